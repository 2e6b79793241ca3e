import { RELATIONS, type Between, type Kind } from './graph-models.js'

/** All links as sorted text, each side on its own: `Person 1 follows 2`, `Person 2 followers 1`. */
export type Links = readonly string[]

/** The expected relations, in plain sets. */
export class PlainGraph {
  readonly #there = new Set<string>()
  /** For each relation the links, and the role of each where it has one. */
  readonly #links = new Map<Between, Map<string, string | null>>(RELATIONS.map((each) => [each, new Map()]))
  /** Notes by person and id, and what each is about. */
  readonly #notes = new Map<string, number | null>()
  /** Entities deleted while a one-sided list still named them. */
  readonly #listed = new Set<string>()

  has(kind: Kind, id: number): boolean {
    return this.#there.has(`${kind} ${id}`)
  }

  /** True where a one-sided list may still name it: a new entity under its key is then taken for it. */
  mayBeListed(kind: Kind, id: number): boolean {
    return this.#listed.has(`${kind} ${id}`)
  }

  add(kind: Kind, id: number): void {
    this.#there.add(`${kind} ${id}`)
  }

  /** Takes the member away from its former owner. */
  link(relation: Between, a: number, b: number, role: string | null = null): void {
    const links = this.#linksOf(relation)
    const { shape } = relation
    for (const link of links.keys()) {
      const [from, to] = ends(link)
      if ((shape !== 'manyToMany' && to === b) || (shape === 'oneToOne' && from === a)) links.delete(link)
    }
    links.set(linkOf(relation, a, b), role)
  }

  unlink(relation: Between, a: number, b: number): void {
    if (!this.#linksOf(relation).delete(linkOf(relation, a, b))) return
    if (relation.owns) this.remove(relation.to, b)
  }

  /** Owner or partner of an entity, seen from the other end. */
  ownerOf(relation: Between, b: number): number | undefined {
    for (const link of this.#linksOf(relation).keys()) if (ends(link)[1] === b) return ends(link)[0]
    return undefined
  }

  partnerOf(relation: Between, a: number): number | undefined {
    for (const link of this.#linksOf(relation).keys()) if (ends(link)[0] === a) return ends(link)[1]
    return undefined
  }

  note(person: number, id: number, about: number | null): void {
    this.#notes.set(`${person} ${id}`, about)
  }

  unnote(person: number, id: number): void {
    this.#notes.delete(`${person} ${id}`)
  }

  remove(kind: Kind, id: number): void {
    if (!this.#there.delete(`${kind} ${id}`)) return
    if (kind === 'Person') {
      this.remove('Badge', id)
      for (const key of this.#notes.keys()) if (ends(key)[0] === id) this.#notes.delete(key)
    }
    if (kind === 'Task') for (const [key, about] of this.#notes) if (about === id) this.#notes.delete(key)
    for (const relation of RELATIONS) {
      const links = this.#linksOf(relation)
      for (const link of [...links.keys()]) {
        const [a, b] = ends(link)
        const isFrom = relation.from === kind && a === id
        if (!isFrom && !(relation.to === kind && b === id)) continue
        links.delete(link)
        if (!isFrom && relation.back === undefined) this.#listed.add(`${kind} ${id}`)
        if (isFrom && relation.owns) this.remove(relation.to, b)
      }
    }
  }

  links(): Links {
    const links = [...this.#there].map((each) => `${each} is there`)
    for (const relation of RELATIONS) {
      const { from, name, to, back, records } = relation
      for (const [link, role] of this.#linksOf(relation)) {
        const [a, b] = ends(link)
        links.push(`${from} ${a} ${named(name, role)} ${b}`)
        if (records !== undefined) links.push(`${records} ${a}:${b}`)
        if (back !== undefined) links.push(`${to} ${b} ${named(back, role)} ${a}`)
      }
    }
    for (const [key, about] of this.#notes) {
      const [person, id] = ends(key)
      links.push(`Person ${person} note ${id} about ${String(about)}`)
      if (about !== null) links.push(`Task ${about} in notes of ${person}`)
    }
    for (const each of this.#there) {
      const [kind, id] = each.split(' ')
      if (kind !== 'Badge' || !this.has('Person', Number(id))) continue
      links.push(`Person ${id} badge ${id}`, `Badge ${id} person ${id}`)
    }
    return [...new Set(links)].sort()
  }

  #linksOf(relation: Between): Map<string, string | null> {
    return this.#links.get(relation)!
  }
}

export const named = (name: string, role: string | null): string => (role === null ? name : `${name}(${role})`)

function ends(link: string): [number, number] {
  const [a, b] = link.split(' ')
  return [Number(a), Number(b)]
}

/** Friends are friends of each other, whoever said so. */
function linkOf({ name, back }: Between, a: number, b: number): string {
  return name === back && a > b ? `${b} ${a}` : `${a} ${b}`
}

/** Links whose other side does not say the same, and those to what is gone. */
export function oneSided(links: Links): Links {
  const all = new Set(links)
  return links.filter((link) => {
    const [, kind, from, name, role = '', to] = /^(\w+) (\d+) (\w+)(\(\w\))? (\d+)$/.exec(link) ?? []
    const relation = RELATIONS.find(
      (each) => (each.from === kind && each.name === name) || (each.to === kind && each.back === name),
    )
    if (relation === undefined) return link.includes('gone')
    const isFrom = relation.from === kind && relation.name === name
    const [other, back] = isFrom ? [relation.to, relation.back] : [relation.from, relation.name]
    if (!all.has(`${other} ${to} is there`)) return true
    return back !== undefined && !all.has(`${other} ${to} ${back}${role} ${from}`)
  })
}
