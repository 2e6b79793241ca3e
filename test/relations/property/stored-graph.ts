import type { Collection, Database, Ref, Session } from 'skein'
import {
  Badge,
  CLASSES,
  COPIES,
  IDS,
  LINKS,
  Person,
  collectionsOf,
  refsOf,
  type Kind,
  type Role,
} from './graph-models.js'
import { isByDate } from './in-companions.js'
import { named, type Links } from './plain-graph.js'

type Entity = { readonly id: number } & { readonly [relation: string]: unknown }
const KINDS = Object.keys(CLASSES) as Kind[]

/** Reads the stored relations in a session of its own, each side for itself. */
export async function storedLinks(db: Database): Promise<Links> {
  const session = db.session()
  const links: string[] = []
  const found = await Promise.all(KINDS.map((kind) => session.findMany(CLASSES[kind] as typeof Person, IDS)))
  const entities = KINDS.flatMap((kind, i) =>
    found[i].flatMap((each) => (each === null ? [] : [[kind, each as unknown as Entity] as const])),
  )
  for (const [kind, entity] of entities) {
    links.push(`${kind} ${entity.id} is there`)
    // Before anything is loaded a reference says what is stored, whether or not it is there.
    links.push(...refsOf(kind).flatMap((name) => refLink(kind, entity, name)))
    if (kind === 'Person') links.push(...noteLinks(entity as unknown as Person))
  }
  const members = entities.flatMap(([kind, entity]) =>
    collectionsOf(kind).map((name) => memberLinks(kind, entity, name)),
  )
  links.push(...(await Promise.all(members)).flat())
  for (const about of IDS) {
    for await (const { id } of db.session().pointingTo(Person, 'notes.about', about))
      links.push(`Task ${about} in notes of ${id}`)
  }
  for (const [name, linkClass] of Object.entries(LINKS))
    links.push(...(await db.scan<object>(linkClass).keys()).map((key) => `${name} ${String(key)}`))
  return [...links, ...(await badgeLinks(db.session()))].sort()
}

/** Copies that are not what the entities say that they are taken from; and those that a session shows otherwise. */
export async function wrongCopies(db: Database, seen: Iterable<readonly [Kind, object]> = []): Promise<string[]> {
  const session = db.session()
  const entities = new Map<string, Entity>()
  for (const kind of KINDS)
    for (const entity of await session.findMany(CLASSES[kind] as typeof Person, IDS))
      if (entity !== null) entities.set(`${kind} ${entity.id}`, entity as unknown as Entity)
  const wrong = COPIES.flatMap(({ of, ref, copy, from }) =>
    IDS.flatMap((id) => {
      const holder = entities.get(`${of} ${id}`)
      const key = (holder?.[ref] as Ref<object> | undefined)?.key ?? null
      const wanted = key === null ? undefined : entities.get(`${from} ${String(key)}`)?.title
      const held = holder?.[copy]
      return held === wanted ? [] : [`${of} ${id} ${copy} is ${String(held)} and not ${String(wanted)}`]
    }),
  )
  const shown = [...seen].flatMap(([kind, entity]) =>
    COPIES.filter(({ of }) => of === kind).flatMap(({ copy }) => {
      const { id, [copy]: here } = entity as Entity
      const there = entities.get(`${kind} ${id}`)?.[copy]
      return here === there ? [] : [`${kind} ${id} shows ${String(here)} in ${copy} and stores ${String(there)}`]
    }),
  )
  return [...wrong, ...shown]
}

/** A link as a session shows it, without what it carries. */
export const withoutRole = (link: string): string => link.replace(/\(\w\)/, '')

/** The view of a session on its loaded entities, without a read. */
export function shownLinks(entities: Iterable<readonly [Kind, object]>): Links {
  const links: string[] = []
  for (const [kind, object] of entities) {
    const entity = object as Entity
    for (const name of refsOf(kind)) links.push(...refLink(kind, entity, name))
    for (const name of collectionsOf(kind)) {
      const members = entity[name] as Collection<Entity & object>
      if (members.isLoaded) links.push(...members.items.map(({ id }) => `${kind} ${entity.id} ${name} ${id}`))
    }
  }
  return links.sort()
}

const refLink = (kind: Kind, entity: Entity, name: string): string[] => {
  const { key } = entity[name] as Ref<object>
  return key === null ? [] : [`${kind} ${entity.id} ${name} ${String(key)}`]
}

async function memberLinks(kind: Kind, entity: Entity, name: string): Promise<string[]> {
  const members = entity[name] as Collection<Entity & object, Role>
  const items = await members.load()
  // A one-sided relation cannot know which members were deleted.
  const dangling =
    name === 'bookmarks' ? [] : members.dangling.map((key) => `${kind} ${entity.id} ${name} gone ${String(key)}`)
  const roleOf = async (item: Entity): Promise<Role | null> => {
    if (name === 'rated' || name === 'raters') return members.linkOf(item)
    return name === 'watched' || name === 'watchers' ? members.attributesOf(item) : null
  }
  const roles = await Promise.all(items.map(roleOf))
  const linked = items.map(({ id }, i) => `${kind} ${entity.id} ${named(name, roles[i]?.name ?? null)} ${id}`)
  return [...linked, ...dangling, ...(name === 'followers' ? countedWrong(entity, items.length + dangling.length) : [])]
}

/** A member that was linked on two days is counted on each. */
function countedWrong({ id, followerCount }: Entity, followers: number): string[] {
  return isByDate || followerCount === followers ? [] : [`Person ${id} counts ${String(followerCount)} followers`]
}

const noteLinks = ({ id, notes, noteCount }: Person): string[] => [
  ...notes.items.map((each) => `Person ${id} note ${each.id} about ${String(each.about.key)}`),
  ...(noteCount === notes.items.length ? [] : [`Person ${id} counts ${noteCount} notes`]),
]

async function badgeLinks(session: Session): Promise<string[]> {
  const persons = await session.findMany(Person, IDS, { with: ['badge'] })
  const badges = await session.findMany(Badge, IDS, { with: ['person'] })
  return [
    ...persons.flatMap((each) => (each?.badge.value == null ? [] : [`Person ${each.id} badge ${each.badge.value.id}`])),
    ...badges.flatMap((each) =>
      each?.person.value == null ? [] : [`Badge ${each.id} person ${each.person.value.id}`],
    ),
  ]
}
