import { compileCodecs, readProperty } from '../../codec/index.js'
import { connect } from '../../driver/connect.js'
import type { Driver } from '../../driver/driver.js'
import type { DriverOptions } from '../../driver/options.js'
import type { EmbeddedServer } from '../../embedded/index.js'
import { byteKeyedSets, compileModel, type Model, type RelationModel } from '../../model/index.js'
import { collection } from '../../relations/collection.js'
import { isBound } from '../../relations/state/state-of.js'
import { ref } from '../../relations/ref.js'
import { strategiesOf } from '../../relations/strategy-registry.js'
import { checkCounterExpiry } from './check-counter-expiry.js'
import { checkedActor, checkOpenOptions } from './check-open-options.js'
import { warnOfSizes } from './warn-of-sizes.js'
import { Database } from './database.js'
import { archivedModel } from '../archive/archived-model.js'
import { MappedClasses, type RelationsOf } from '../mapping/mapped-classes.js'
import type { OpenOptions } from '../context/open-options.js'
import { withoutTransactions } from '../transaction/transaction-errors.js'

/**
 * Compiles the model, connects, and reads what the server can do. `embedded: true` starts the embedded server first.
 *
 * @example
 * const db = await open({ hosts: 'localhost:3000', namespace: 'test', entities: [Agent, Listing] })
 */
export function open(options: OpenOptions): Promise<Database> {
  return openWith(options, strategiesOf)
}

/** Opens a database with further contributors to saving and loading. */
async function openWith(options: OpenOptions, relationsOf: RelationsOf): Promise<Database> {
  checkOpenOptions(options)
  const {
    embedded,
    namespace,
    entities,
    transactions = 'auto',
    validate = true,
    stacks = isDevelopment(),
    actor,
    ...rest
  } = options
  const classes = mapClasses(entities, namespace, relationsOf, options.limits?.keyBytes)
  const namespaces = namespacesOf(classes.model)
  const server = await startServer(embedded, namespaces)
  try {
    const hosts = server === undefined ? {} : { hosts: server.hosts }
    const driver = await connect({ ...rest, ...hosts, namespaces, byteKeyed: byteKeyedSets(classes.model) })
    if (transactions === 'required') await requireTransactions(driver)
    await refuseExpiry(classes.model, driver)
    warnOfSizes(classes.model, driver.events)
    const stopAfter = server && (await stopper(server))
    const checked = actor && checkedActor(actor)
    return new Database({ driver, classes, validate, transactions, stacks, actor: checked, stopAfter })
  } catch (error) {
    await server?.stop()
    throw error
  }
}

/** Maps the classes of a database, without a server. */
export function mapClasses(
  entities: OpenOptions['entities'],
  namespace: string,
  relationsOf: RelationsOf = strategiesOf,
  maxKeyBytes?: number,
): MappedClasses {
  const model = compileModel(entities, { namespace })
  const mapped = (of: Model, toArchived?: () => MappedClasses): MappedClasses =>
    new MappedClasses(compileCodecs(of, { relations: detached, maxKeyBytes }), relationsOf, toArchived)
  return mapped(model, () => mapped(archivedModel(model)))
}

const isDevelopment = (): boolean => process.env.NODE_ENV !== 'production'

async function refuseExpiry(model: Model, driver: Driver): Promise<void> {
  try {
    checkCounterExpiry(model, driver.capabilities)
  } catch (error) {
    await driver.close()
    throw error
  }
}

async function requireTransactions(driver: Driver): Promise<void> {
  const lacking = Object.values(driver.capabilities.namespaces).find((namespace) => !namespace.transactions)
  if (lacking === undefined) return
  await driver.close()
  throw withoutTransactions(lacking.name)
}

// Loaded only when asked for: production never needs it.
async function startServer(
  embedded: OpenOptions['embedded'],
  namespaces: DriverOptions['namespaces'],
): Promise<EmbeddedServer | undefined> {
  if (embedded === undefined || embedded === false) return undefined
  const { startEmbedded } = await import('../../embedded/index.js')
  return startEmbedded({ namespaces, ...(embedded === true ? {} : embedded) })
}

async function stopper(server: EmbeddedServer): Promise<(work: Promise<void>) => Promise<void>> {
  const { stopAfter } = await import('../../embedded/embedded-server.js')
  return (work) => stopAfter(server, work)
}

function namespacesOf(model: Model): string[] {
  const used = [...model.entities.values()].flatMap(({ namespace, archive }) => [namespace, archive ?? namespace])
  return [...new Set([model.namespace, ...used])]
}

// Until a relation's strategy attaches its own.
// An entity that no session manages still shows the keys its refs hold.
function detached(owner: object, { name, holds }: RelationModel, stored: unknown): unknown {
  const present = readProperty(owner, name)
  if (isBound(present)) return present
  if (holds === 'collection') return collection()
  const made = ref()
  if (stored !== undefined && stored !== null) made.set(stored)
  return made
}
