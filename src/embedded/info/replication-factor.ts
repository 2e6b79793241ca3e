import type { Cluster } from '../cluster/cluster.js'

/** Copies of each record: two, where there are two nodes to hold them. */
export const replicationFactor = ({ members }: Cluster): number => Math.max(1, Math.min(2, members.length))
