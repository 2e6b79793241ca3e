import type { Database, KeyValue } from 'skein'
import { Person, Task } from './graph-models.js'

export const IDS = [1, 2, 3, 4]

/** All links as sorted text, each side on its own: `1.follows>2`, `2.followers>1`. */
export type Links = readonly string[]

/** What the relations should be, in plain sets. */
export class PlainGraph {
  readonly persons = new Set<number>()
  readonly tasks = new Set<number>()
  readonly #assignee = new Map<number, number>()
  readonly #lead = new Map<number, number>()
  readonly #follows = new Set<string>()
  readonly #friends = new Set<string>()
  readonly #watched = new Map<string, string>()

  assign(task: number, person: number | null): void {
    if (person === null) this.#assignee.delete(task)
    else this.#assignee.set(task, person)
  }

  isAssigned(task: number, person: number): boolean {
    return this.#assignee.get(task) === person
  }

  /** One to one: both let go of whom they had. */
  lead(task: number, person: number | null): void {
    if (person !== null) for (const [other, leader] of this.#lead) if (leader === person) this.#lead.delete(other)
    if (person === null) this.#lead.delete(task)
    else this.#lead.set(task, person)
  }

  leadOf(person: number): number | undefined {
    return [...this.#lead].find(([, leader]) => leader === person)?.[0]
  }

  follow(a: number, b: number, isOn: boolean): void {
    toggle(this.#follows, `${a} ${b}`, isOn)
  }

  befriend(a: number, b: number, isOn: boolean): void {
    toggle(this.#friends, [a, b].sort().join(' '), isOn)
  }

  watch(person: number, task: number, role: string | null): void {
    if (role === null) this.#watched.delete(`${person} ${task}`)
    else this.#watched.set(`${person} ${task}`, role)
  }

  removePerson(id: number): void {
    this.persons.delete(id)
    for (const map of [this.#assignee, this.#lead]) for (const [key, to] of map) if (to === id) map.delete(key)
    for (const set of [this.#follows, this.#friends])
      for (const link of set) if (link.split(' ').includes(String(id))) set.delete(link)
    for (const link of this.#watched.keys()) if (link.startsWith(`${id} `)) this.#watched.delete(link)
  }

  removeTask(id: number): void {
    this.tasks.delete(id)
    this.#assignee.delete(id)
    this.#lead.delete(id)
    for (const link of this.#watched.keys()) if (link.endsWith(` ${id}`)) this.#watched.delete(link)
  }

  links(): Links {
    const links: string[] = []
    const both = (a: number, there: string, b: number, back: string): void =>
      void links.push(`${a}.${there}>${b}`, `${b}.${back}>${a}`)
    for (const [task, person] of this.#assignee) both(person, 'tasks', task, 'assignee')
    for (const [task, person] of this.#lead) both(person, 'leads', task, 'lead')
    for (const link of this.#follows) both(...ends(link, 'follows', 'followers'))
    for (const link of this.#friends) both(...ends(link, 'friends', 'friends'))
    for (const [link, role] of this.#watched) both(...ends(link, `watched(${role})`, `watchers(${role})`))
    return [...new Set(links)].sort()
  }
}

function ends(link: string, there: string, back: string): [number, string, number, string] {
  const [a, b] = link.split(' ').map(Number)
  return [a, there, b, back]
}

function toggle(set: Set<string>, link: string, isOn: boolean): void {
  if (isOn) set.add(link)
  else set.delete(link)
}

/** What is stored, read in a session of its own; each side says what it says. */
export async function storedLinks(db: Database): Promise<Links> {
  const session = db.session()
  const links: string[] = []
  const add = (from: number, name: string, to: KeyValue): void => void links.push(`${from}.${name}>${String(to)}`)
  const persons = (await session.findMany(Person, IDS)).filter((each) => each !== null)
  const tasks = (await session.findMany(Task, IDS)).filter((each) => each !== null)
  for (const { id, leads, ...rest } of persons) {
    if (leads.key !== null) add(id, 'leads', leads.key)
    for (const name of ['tasks', 'follows', 'followers', 'friends'] as const)
      for (const key of await rest[name].keys()) add(id, name, key)
    for (const key of await rest.watched.keys())
      add(id, `watched(${(await rest.watched.attributesOf(key))!.name})`, key)
  }
  for (const { id, assignee, lead, watchers } of tasks) {
    if (assignee.key !== null) add(id, 'assignee', assignee.key)
    if (lead.key !== null) add(id, 'lead', lead.key)
    for (const key of await watchers.keys()) add(id, `watchers(${(await watchers.attributesOf(key))!.name})`, key)
  }
  return links.sort()
}

const BACK: { readonly [name: string]: string } = {
  tasks: 'assignee',
  assignee: 'tasks',
  leads: 'lead',
  lead: 'leads',
  follows: 'followers',
  followers: 'follows',
  friends: 'friends',
  watched: 'watchers',
  watchers: 'watched',
}

/** Links whose other side does not say the same. */
export function oneSided(links: Links): Links {
  const all = new Set(links)
  return links.filter((link) => {
    const [, from, name, role, to] = /^(\d+)\.(\w+?)(\(.*\))?>(\d+)$/.exec(link)!
    return !all.has(`${to}.${BACK[name]}${role ?? ''}>${from}`)
  })
}
