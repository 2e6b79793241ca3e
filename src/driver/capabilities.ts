import type { ClientCalls } from './aerospike-client.js'
import { infoText } from './info-errors.js'

export interface NamespaceCapabilities {
  readonly name: string
  /** Transactions need it, and deletes must be durable where it is on. */
  readonly strongConsistency: boolean
  /** Multi-record transactions work here. */
  readonly transactions: boolean
  /** Records may be given a time to live. */
  readonly ttl: boolean
  /** Seconds a record lives when a write does not say; 0 = for ever. */
  readonly defaultTtl: number
  /** Largest record in bytes. */
  readonly maxRecordSize: number
}

/** Capabilities of the server, read once when the database is opened. */
export interface Capabilities {
  readonly edition: string
  readonly build: string
  readonly namespaces: Readonly<Record<string, NamespaceCapabilities>>
}

/** Records that one transaction can write: the server's own limit. */
export const MOST_WRITES = 4096

const DEFAULT_RECORD_SIZE = 1024 * 1024

/** Reads the capabilities; a namespace that does not exist is missing from the result. */
export async function readCapabilities(
  client: ClientCalls,
  namespaces: readonly string[],
  timeout: number,
): Promise<Capabilities> {
  const ask = (request: string): Promise<string> => info(client, request, timeout)
  const [{ edition, build }, ...found] = await Promise.all([
    readRelease(ask),
    ...namespaces.map((name) => ask(`namespace/${name}`)),
  ])
  const known = found.flatMap((text, i) =>
    isUnknown(text) ? [] : [parseNamespace(namespaces[i], text, edition, build)],
  )
  return Object.freeze({
    edition,
    build,
    namespaces: Object.freeze(Object.fromEntries(known.map((one) => [one.name, one]))),
  })
}

/** Edition and build. Newer servers tell both under `release`, which older ones refuse, and log a warning when asked for `edition`. */
async function readRelease(ask: (request: string) => Promise<string>): Promise<{ edition: string; build: string }> {
  const release = settingsIn(await ask('release').catch(() => ''))
  const [edition, build] = [release.get('edition'), release.get('version')]
  if (edition !== undefined && build !== undefined) return { edition, build }
  const asked = await Promise.all([ask('edition'), ask('build')])
  return { edition: asked[0], build: asked[1] }
}

export async function listNamespaces(client: ClientCalls, timeout: number): Promise<readonly string[]> {
  return (await info(client, 'namespaces', timeout)).split(';').filter((name) => name !== '')
}

async function info(client: ClientCalls, request: string, timeout: number): Promise<string> {
  return infoText(await client.infoAny(request, { timeout }))
}

function isUnknown(text: string): boolean {
  return text === '' || text.startsWith('type=unknown') || /^(ERROR|FAIL)/i.test(text)
}

export function parseNamespace(name: string, text: string, edition: string, build: string): NamespaceCapabilities {
  const settings = settingsIn(text)
  const number = (setting: string): number => Number(settings.get(setting) ?? 0)
  const strongConsistency = settings.get('strong-consistency') === 'true'
  return Object.freeze({
    name,
    strongConsistency,
    transactions: strongConsistency && isEnterprise(edition) && Number.parseInt(build) >= 8,
    ttl: number('nsup-period') > 0 || settings.get('allow-ttl-without-nsup') === 'true',
    defaultTtl: number('default-ttl'),
    maxRecordSize: number('max-record-size') || number('storage-engine.write-block-size') || DEFAULT_RECORD_SIZE,
  })
}

/** Settings of the form `a=1;b=2`. */
function settingsIn(text: string): ReadonlyMap<string, string> {
  return new Map(text.split(';').map((pair) => pair.split('=') as [string, string]))
}

// 'Aerospike Enterprise Edition', but 'Aerospike Ce Edition' or 'Aerospike Community Edition'.
function isEnterprise(edition: string): boolean {
  return !/\b(ce|community)\b/i.test(edition)
}
