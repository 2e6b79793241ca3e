import {
  Bin,
  Counter,
  Embeddable,
  Embedded,
  History,
  Key,
  ManyToOne,
  Record,
  ref,
  Version,
  type EntityClass,
  type RecordHandle,
} from 'skein'
import type { FaultOptions } from 'skein/embedded'
import type { TestServer } from '../server.js'

@Embeddable()
class Stats {
  @Counter() hits = 0
}

export class Fields {
  @Key() id!: number
  @Bin() name?: string
  @Counter() views = 0
  @Bin({ type: { list: 'int' } }) list: number[] = [10, 10, 10, 10, 10]
  @Bin({ type: { list: 'int', order: 'sorted' } }) sorted: number[] = [10]
  @Bin({ type: { map: 'int' } }) votes = new Map([['up', 0]])
  @Bin({ type: { map: { map: 'int' } } }) nested = new Map([['a', new Map([['b', 0]])]])
  @Bin({ type: { map: { list: 'int' } } }) lists = new Map([['a', [10]]])
  @Embedded(() => Stats) stats = new Stats()
  @Embedded(() => Stats, { as: 'map' }) parts = new Map([['a', new Stats()]])
  @Bin({ type: 'json' }) json: { n: number } = { n: 0 }
}

@Record({ set: 'rec_flight' })
export class Plain extends Fields {}

@Record({ set: 'rec_flight_v' })
export class Versioned extends Fields {
  @Version() version!: number
}

/** A class with a relation: its writes are planned with others, and may be in a transaction. */
@Record({ set: 'rec_flight_l' })
export class Linked extends Fields {
  @ManyToOne(() => Linked) friend = ref<Linked>()
}

/** A class whose writes read the record first. */
@History({ keep: 3 })
@Record({ set: 'rec_flight_h' })
export class Kept extends Fields {
  @Version() version!: number
}

export const SETS: ReadonlyMap<EntityClass, string> = new Map<EntityClass, string>([
  [Plain, 'rec_flight'],
  [Versioned, 'rec_flight_v'],
  [Linked, 'rec_flight_l'],
  [Kept, 'rec_flight_h'],
])

export type Handle = RecordHandle<Plain>

/** A change through a handle, and the same change of a property where there is one that is sent as an operation. */
type Way = readonly [byHandle: (handle: Handle) => void, byProperty?: (entity: Plain, handle: Handle) => void]

const EACH: { readonly [name: string]: Way } = {
  'a counter': [(h) => h.counter('views').add(1), (e) => (e.views += 1)],
  'an append': [(h) => h.list('list').append(1), (e) => e.list.push(1)],
  'an insert': [(h) => h.list('list').insert(0, 5)],
  'a removed item': [(h) => h.list('list').removeAt(-1)],
  'an item of a list': [(h) => h.list('list').increment(0, 1)],
  'a sorted list': [(h) => h.list('sorted').append(11), (e) => e.sorted.push(11)],
  'a number in a map': [(h) => h.map('votes').increment('up')],
  'a number in a nested map': [(h) => h.map('nested').at('a').increment('b')],
  'a list in a map': [(h) => h.map('lists').at('a').append(1), (e) => e.lists.get('a')!.push(1)],
  'a counter of a part': [(h) => h.map('stats').increment('hits'), (e) => (e.stats.hits += 1)],
  'a counter in a map of parts': [
    (h) => h.map('parts').at('a').increment('hits'),
    (e) => (e.parts.get('a')!.hits += 1),
  ],
  'a number in JSON': [(h) => h.map('json').increment('n')],
}

const ALL: { readonly [name: string]: Way } = {
  'every kind of change': [
    (handle) => Object.values(EACH).forEach(([byHandle]) => byHandle(handle)),
    (entity, handle) => {
      for (const [byHandle, byProperty] of Object.values(EACH))
        if (byProperty === undefined) byHandle(handle)
        else byProperty(entity, handle)
    },
  ],
}

/** Running one after the other takes long, and is for a look at what has failed. */
export const CHANGES = process.env.SKEIN_FAULTS === 'all' ? { ...ALL, ...EACH } : ALL

/** Ends of the first write. */
export const FAULTS = {
  'is refused': { answer: 22 },
  'is lost': { drop: true },
  'is done and its answer lost': { drop: true, after: true },
} as const

/** The entity without what only its own writes change. */
export const bare = (entity: Fields): object => ({
  ...entity,
  name: undefined,
  version: undefined,
  friend: undefined,
})

/** Begins to send, and returns once the server has the first write of the set; with a fault, that write meets it. */
export async function underWay(
  { embedded }: TestServer,
  set: string,
  send: () => Promise<unknown>,
  fault: FaultOptions = {},
): Promise<{ readonly end: Promise<unknown> }> {
  if (embedded === undefined) return { end: send() }
  const met = await embedded.faults.add({ kind: 'write', set, times: 1, delay: 10, ...fault })
  const end = send()
  end.catch(() => undefined)
  while ((await met.hits()) === 0) await new Promise(setImmediate)
  return { end }
}
