export {
  startEmbedded,
  type Commands,
  type EmbeddedNode,
  type EmbeddedServer,
  type Fault,
  type Faults,
  type MovingPartitions,
} from './embedded-server.js'
export type { EmbeddedLimits, EmbeddedOptions, NamespaceOptions } from './options.js'
export type { FaultKey, FaultMatch, FaultOptions } from './faults/fault.js'
export type { CommandKind, FaultKind } from './command/kind.js'
export type { CommandCount, CommandEntry, CommandSummary } from './server/command-log.js'
