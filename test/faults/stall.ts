import { connect } from '#src/driver/connect.js'
import { Driver } from '#src/driver/driver.js'
import { mergePolicies } from '#src/driver/policies.js'
import { Database } from '#src/session/database/database.js'
import { mapClasses } from '#src/session/database/open.js'
import { MODES, PATIENT, type Mode } from '../server.js'
import { CASES, COMPANION_CASES, COMPANION_PART_CASES, DATED_CASES, type Case } from './families.js'

/** An operation in a namespace of its own, so that a fault can stop it while others go on. */
export interface Stall extends Case {
  readonly index: number
  readonly mode: Mode
  readonly namespace: string
  /** Number of the server that has that namespace. */
  readonly server: number
}

const ALL: readonly Case[] = [...CASES, ...COMPANION_CASES, ...COMPANION_PART_CASES, ...DATED_CASES]

/** The client knows no more of one cluster. */
const MOST_NAMESPACES = 32
export const SERVERS = Math.ceil((MODES.length * ALL.length) / MOST_NAMESPACES)

export const STALLS: readonly Stall[] = MODES.flatMap((mode) => ALL.map((each) => ({ ...each, mode }))).map(
  (each, index) => ({ ...each, index, namespace: `${each.mode}${index}`, server: index % SERVERS }),
)

/** A database for each, on one connection to each server; they share no queue, so that none waits for another. */
export async function openStalls(
  hosts: readonly string[],
  stalls: readonly Stall[],
): Promise<ReadonlyMap<Stall, Database>> {
  const connected = await Promise.all(
    hosts.map((each, i) =>
      connectTo(
        each,
        stalls.filter(({ server }) => server === i),
      ),
    ),
  )
  return new Map(stalls.map((stall) => [stall, databaseOn(connected[stall.server], stall)]))
}

function connectTo(hosts: string, stalls: readonly Stall[]): Promise<Driver> {
  return connect({ hosts, namespaces: stalls.map(({ namespace }) => namespace), maxConnsPerNode: 1000, ...PATIENT })
}

function databaseOn({ client, capabilities }: Driver, { family, namespace }: Stall): Database {
  const driver = new Driver(client, capabilities, mergePolicies(PATIENT.policies), { namespaces: [namespace] })
  return new Database({ driver, classes: mapClasses(family.classes, namespace), validate: true, transactions: 'auto' })
}
