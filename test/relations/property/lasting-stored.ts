import type { Collection, Database, DeletedMode, Ref } from 'skein'
import {
  Author,
  Feed,
  Follow,
  IDS,
  KINDS,
  OWNING,
  Remark,
  classOf,
  keyOf,
  refKey,
  type Kind,
} from './lasting-models.js'
import { isByDate } from './in-companions.js'
import { nameOf, type LastingGraph, type Link } from './lasting-graph.js'

type Entity = { readonly [name: string]: unknown } & { readonly deletedAt?: Date }
const MODES: readonly (DeletedMode | undefined)[] = [undefined, 'include', 'only']
const shown = (mode: DeletedMode | undefined, isDeleted: boolean): boolean =>
  mode === 'include' || isDeleted === (mode === 'only')
const line = (...words: unknown[]): string =>
  words.map((word) => (Array.isArray(word) ? `[${word.join()}]` : String(word))).join(' ')

/** Answers of a plain graph to everything that can be asked, one line for each answer. */
export function expectedLines(graph: LastingGraph): string[] {
  const lines: string[] = []
  for (const thing of graph.things.values()) {
    const { kind, id, text, nick, deleted, owner } = thing
    lines.push(
      line(kind, id, deleted === undefined ? 'there' : 'deleted', text, nick, thing.authorText, thing.authorNick),
    )
    const relation = OWNING.find(({ child }) => child === kind)
    if (relation !== undefined) lines.push(line(kind, id, 'of', ownerKey(relation, owner)))
    for (const { child, owners, name } of OWNING) {
      if (!owners.includes(kind)) continue
      const members = graph.childrenOf(nameOf(kind, id)).filter((each) => each.kind === child)
      lines.push(
        ...memberLines(
          nameOf(kind, id),
          name,
          members.map((each) => [keyOf(child, each.id), each.deleted !== undefined]),
        ),
      )
    }
    if (kind === 'Author') {
      const isThere = (author: number): boolean => graph.isThere('Author', author)
      lines.push(...linked(nameOf(kind, id), 'follows', graph.follows, 0, id, isThere))
      lines.push(...linked(nameOf(kind, id), 'followers', graph.follows, 1, id, isThere))
      lines.push(...linked(nameOf(kind, id), 'reads', graph.readers, 1, id, () => true))
    }
  }
  for (const [key, { text, deleted }] of graph.follows)
    lines.push(line('Follow', key, text, deleted === undefined ? 'there' : 'deleted'))
  for (const id of IDS) {
    // A list without another side goes on naming what was purged, as it does what expires.
    const items = [...graph.items.get(id)!].map((name) => {
      const [kind, item] = name.split(' ')
      const key = refKey({ owners: ['Story', 'Photo'] }, kind as Kind, Number(item))
      return [key, graph.things.get(name)?.deleted !== undefined] as const
    })
    lines.push(...memberLines(`Feed ${id}`, 'items', items))
    lines.push(...linked(`Feed ${id}`, 'readers', graph.readers, 0, id, (author) => graph.isThere('Author', author)))
    for (const [key, { text }] of graph.readers)
      if (key.startsWith(`${id}:`)) lines.push(line('Feed', id, 'reader', key.slice(2), text))
  }
  for (const kind of ['Author', 'Remark'] satisfies Kind[])
    for (const id of IDS)
      lines.push(
        line(
          'History of',
          nameOf(kind, id),
          (graph.histories.get(nameOf(kind, id)) ?? []).map((each) => each ?? 'gone'),
        ),
      )
  return lines.sort()
}

function ownerKey(relation: (typeof OWNING)[number], owner: string | null): string {
  if (owner === null) return 'null'
  const [kind, id] = owner.split(' ')
  return String(refKey(relation, kind as Kind, Number(id)))
}

function memberLines(of: string, name: string, members: readonly (readonly [number | string, boolean])[]): string[] {
  return MODES.map((mode) => {
    const keys = members
      .filter(([, isDeleted]) => shown(mode, isDeleted))
      .map(([key]) => String(key))
      .sort()
    return line(of, name, mode ?? 'default', keys, keys.length)
  })
}

/** Members at one end of links that are kept when they are ended; `at`: which part of a link's key names that end. */
function linked(
  of: string,
  name: string,
  links: ReadonlyMap<string, Link>,
  at: 0 | 1,
  id: number,
  isThere: (far: number) => boolean,
): string[] {
  const all = [...links].map(([key, link]) => [key.split(':').map(Number), link] as const)
  const own = all.filter(([ends]) => ends[at] === id)
  return memberLines(
    of,
    name,
    own.map(([ends, { deleted }]) => [ends[1 - at], deleted !== undefined || !isThere(ends[1 - at])]),
  )
}

/** The same lines, as a session of its own is answered. */
export async function storedLines(db: Database): Promise<string[]> {
  const session = db.session()
  const lines: string[] = []
  const asked: Promise<unknown>[] = []
  for (const kind of KINDS)
    for (const id of IDS) {
      const entity = (await session.find(classOf(kind), keyOf(kind, id), {
        deleted: 'include',
      })) as Entity | null
      const there = await db.session().find(classOf(kind), keyOf(kind, id))
      if (entity === null || (there === null) !== (entity.deletedAt !== undefined)) {
        if (entity !== null || there !== null) lines.push(line(kind, id, 'is shown wrongly', entity, there))
        continue
      }
      const { text, nick, deletedAt, authorText, authorNick } = entity
      lines.push(line(kind, id, deletedAt === undefined ? 'there' : 'deleted', text, nick, authorText, authorNick))
      const relation = OWNING.find(({ child }) => child === kind)
      if (relation !== undefined) lines.push(line(kind, id, 'of', String((entity[relation.ref] as Ref<object>).key)))
      const names = [
        ...OWNING.filter(({ owners }) => owners.includes(kind)).map(({ name }) => name as string),
        ...(kind === 'Author' ? ['follows', 'followers', 'reads'] : []),
      ]
      for (const name of names) asked.push(ask(lines, nameOf(kind, id), name, entity[name] as Collection<object>))
    }
  for (const link of await db.scan(Follow, { deleted: 'include' }).toArray())
    lines.push(
      line(
        'Follow',
        `${String(link.from.key)}:${String(link.to.key)}`,
        link.text,
        link.deletedAt === undefined ? 'there' : 'deleted',
      ),
    )
  for (const id of IDS) {
    const { items, readers } = await session.load(Feed, id)
    asked.push(ask(lines, `Feed ${id}`, 'items', items), ask(lines, `Feed ${id}`, 'readers', readers))
    asked.push(
      readers.keys({ deleted: 'include' }).then(async (keys) => {
        for (const key of keys)
          lines.push(line('Feed', id, 'reader', key, (await readers.attributesOf(key, { deleted: 'include' }))?.text))
      }),
    )
  }
  await Promise.all(asked)
  for (const [kind, Class] of [
    ['Author', Author],
    ['Remark', Remark],
  ] as const)
    for (const id of IDS) {
      const entries = await db
        .session()
        .history(Class as typeof Author, id)
        .entries()
      lines.push(
        line(
          'History of',
          nameOf(kind, id),
          entries.map(({ entity }) => (entity === null ? 'gone' : (entity.text ?? ''))),
        ),
      )
    }
  return lines.sort()
}

async function ask(lines: string[], of: string, name: string, members: Collection<object>): Promise<void> {
  for (const mode of MODES) {
    const options = mode === undefined ? undefined : { deleted: mode }
    const keys = (await members.keys(options)).map(String).sort()
    // A count adds up what buckets have, and a link that was made on two days is in both.
    const count = isByDate ? keys.length : await members.count(options)
    lines.push(line(of, name, mode ?? 'default', keys, count))
    const all = await members.keys({ deleted: 'include' })
    const held = await Promise.all(all.map((key) => members.contains(key, options)))
    const among = all
      .filter((_, i) => held[i])
      .map(String)
      .sort()
    if (among.join() !== keys.join()) lines.push(line(of, name, mode ?? 'default', 'contains', among))
  }
}
