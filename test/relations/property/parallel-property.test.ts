import { expect } from 'chai'
import fc from 'fast-check'
import { SkeinError, type Database, type Session } from 'skein'
import { emptySets } from '../../empty-sets.js'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { Child, CHILDREN, CLASSES, Item, MANY, Parent, PARENTS } from './parallel-models.js'
import { childKey, loadAll, membersOf, parentKey, since, storeAll, type Loaded } from './parallel-models.js'

const RUNS = { numRuns: Number(process.env.SKEIN_RUNS ?? 25) }

const parent = fc.constantFrom(0, 1)
const child = fc.constantFrom(0, 1, 2)
const many = fc.constantFrom(...MANY)
const change = fc.record({
  do: fc.constantFrom('add' as const, 'add' as const, 'remove' as const),
  relation: many,
  parent,
  child,
  year: fc.constantFrom(1, 2),
  isKey: fc.boolean(),
})
const point = fc.record({
  do: fc.constant('point' as const),
  name: fc.constantFrom('parent' as const, 'indexed' as const),
  child,
  to: fc.option(parent),
})
const pair = fc.record({ do: fc.constant('pair' as const), parent, child: fc.option(child) })
const item = fc.record({ do: fc.constantFrom('make' as const, 'drop' as const), parent })
const rename = fc.record({ do: fc.constant('rename' as const), child, name: fc.constantFrom('x', 'y') })
const changes = fc.oneof({ weight: 6, arbitrary: change }, { weight: 2, arbitrary: point }, pair, item, rename)
const CALLS = ['flush', 'flush', 'explain', 'save', 'load', 'count', 'keys', 'contains', 'find'] as const
const call = fc.record({
  do: fc.constantFrom(...CALLS),
  relation: many,
  parent,
  child,
})
const refresh = fc.record({ do: fc.constantFrom('refresh parent' as const, 'refresh child' as const), parent, child })
const remove = fc.record({ do: fc.constant('delete' as const), child })

type Made<A> = A extends fc.Arbitrary<infer T> ? T : never
type AnyChange = Made<typeof changes>
type Call = Made<typeof call>

/** Links by relation, as a plain map says; `pair` and items beside them. */
class Plain {
  readonly #links = new Map<string, number>()
  readonly items = new Set<string>()
  readonly names = new Map<number, string>()

  apply(step: AnyChange): void {
    if (step.do === 'add') {
      if (step.relation === 'kids' || step.relation === 'found') this.#point(step.relation, step.child, step.parent)
      else this.#links.set(`${step.relation} ${step.parent} ${step.child}`, step.relation === 'links' ? step.year : 0)
    } else if (step.do === 'remove') this.#links.delete(`${step.relation} ${step.parent} ${step.child}`)
    else if (step.do === 'point') this.#point(step.name === 'parent' ? 'kids' : 'found', step.child, step.to)
    else if (step.do === 'pair') {
      for (const each of this.#of('pair'))
        if (each[1] === step.parent || each[2] === step.child) this.#links.delete(`pair ${each[1]} ${each[2]}`)
      if (step.child !== null) this.#links.set(`pair ${step.parent} ${step.child}`, 0)
    } else if (step.do === 'rename') this.names.set(step.child, step.name)
  }

  get lines(): string[] {
    return [...[...this.#links].map(([link, year]) => `${link} ${year}`), ...this.items].sort()
  }

  #of(relation: string): [string, number, number][] {
    return [...this.#links.keys()].flatMap((link) => {
      const [name, a, b] = link.split(' ')
      return name === relation ? [[name, Number(a), Number(b)]] : []
    })
  }

  #point(relation: 'kids' | 'found', member: number, owner: number | null): void {
    for (const each of this.#of(relation))
      if (each[2] === member) this.#links.delete(`${relation} ${each[1]} ${member}`)
    if (owner !== null) this.#links.set(`${relation} ${owner} ${member}`, 0)
  }
}

/** The same of what is stored. */
async function storedLines(db: Database): Promise<string[]> {
  const session = db.session()
  const lines: string[] = []
  for (const [p, no] of PARENTS.entries()) {
    const one = await session.load(Parent, parentKey(no), { with: [...MANY, 'items'] })
    for (const relation of MANY)
      for (const each of membersOf(one, relation).items) {
        const year = relation === 'links' ? (await one.links.attributesOf(each))?.year : 0
        lines.push(`${relation} ${p} ${CHILDREN.indexOf(each.code)} ${year}`)
      }
    if (one.pair.key !== null) lines.push(`pair ${p} ${CHILDREN.map(childKey).indexOf(String(one.pair.key))} 0`)
    for (const each of one.items.items) lines.push(`item ${p} ${each.line}`)
  }
  return lines.sort()
}

async function verified(db: Database): Promise<void> {
  const wrong: string[] = []
  for await (const { message } of db.verify(CLASSES, { settle: 0 })) wrong.push(message)
  expect(wrong).to.deep.equal([])
}

/** Makes a change in a session that has all entities; nothing is awaited. */
function make(session: Session, { parents, children }: Loaded, step: AnyChange, items: Map<string, Item>): string[] {
  if (step.do === 'add') {
    const member = step.isKey ? childKey(CHILDREN[step.child]) : children[step.child]
    if (step.relation === 'links') parents[step.parent].links.link(member, since(step.year))
    else parents[step.parent][step.relation].add(member)
  } else if (step.do === 'remove')
    membersOf(parents[step.parent], step.relation).remove(
      step.isKey ? childKey(CHILDREN[step.child]) : children[step.child],
    )
  else if (step.do === 'point') children[step.child][step.name].set(step.to === null ? null : parents[step.to])
  else if (step.do === 'pair') parents[step.parent].pair.set(step.child === null ? null : children[step.child])
  else if (step.do === 'rename') children[step.child].name = step.name
  else if (step.do === 'make') {
    const line = items.size + 1
    const id = `item ${step.parent} ${line}`
    items.set(id, session.create(Item, { owner: parents[step.parent], line }))
    return [`+${id}`]
  } else {
    const last = [...items].findLast(([id]) => id.startsWith(`item ${step.parent} `) && !id.endsWith('gone'))
    if (last === undefined) return []
    items.delete(last[0])
    items.set(`${last[0]} gone`, last[1])
    session.remove(last[1])
    return [`-${last[0]}`]
  }
  return []
}

function begin(session: Session, { parents }: Loaded, step: Call): Promise<unknown> {
  const members = membersOf(parents[step.parent], step.relation)
  if (step.do === 'flush') return session.flush()
  if (step.do === 'explain') return session.explain()
  if (step.do === 'save') return session.save(parents[step.parent])
  if (step.do === 'load') return members.load()
  if (step.do === 'count') return members.count()
  if (step.do === 'keys') return members.keys()
  if (step.do === 'contains') return members.contains(childKey(CHILDREN[step.child]))
  return session.find(Child, childKey(CHILDREN[step.child]))
}

const isCall = (step: AnyChange | Call | Made<typeof refresh>): step is Call =>
  (CALLS as readonly string[]).includes(step.do)
const isRefresh = (step: AnyChange | Call | Made<typeof refresh>): step is Made<typeof refresh> =>
  step.do === 'refresh parent' || step.do === 'refresh child'

for (const mode of MODES) {
  describe(`random calls beside each other, of classes with key templates (${mode})`, function () {
    this.timeout(RUNS.numRuns * 8000)
    let db: Database
    useDatabase(mode, CLASSES, (opened) => ({ db } = opened))
    const start = async (): Promise<void> => {
      await emptySets(db, CLASSES)
      await storeAll(db)
    }

    const group = fc.array(fc.oneof({ weight: 3, arbitrary: changes }, { weight: 2, arbitrary: call }), {
      maxLength: 9,
    })

    it('leave in one session what the changes leave one after another', async () => {
      await fc.assert(
        fc.asyncProperty(fc.boolean(), fc.array(group, { maxLength: 4 }), async (isWhole, groups) => {
          await start()
          const session = db.session()
          const loaded = await loadAll(session, isWhole)
          const plain = new Plain()
          const items = new Map<string, Item>()
          for (const steps of groups) {
            const results: Promise<unknown>[] = []
            for (const step of steps) {
              if (isCall(step)) results.push(begin(session, loaded, step))
              else {
                for (const made of make(session, loaded, step, items))
                  if (made.startsWith('+')) plain.items.add(made.slice(1))
                  else plain.items.delete(made.slice(1))
                plain.apply(step)
              }
            }
            await Promise.all(results)
            await session.flush()
            expect(session.isDirty()).to.equal(false)
            expect(await storedLines(db)).to.deep.equal(plain.lines)
            for (const [p, one] of loaded.parents.entries())
              for (const relation of MANY) {
                const members = membersOf(one, relation)
                if (!members.isLoaded) continue
                const shown = members.items.map(({ code }) => `${relation} ${p} ${CHILDREN.indexOf(code)}`)
                const said = plain.lines.filter((line) => line.startsWith(`${relation} ${p} `))
                expect(shown.sort()).to.deep.equal(said.map((line) => line.replace(/ \d$/, '')))
              }
            const names = await db.read(Child, CHILDREN.map(childKey))
            for (const [i, name] of plain.names) expect(names[i]?.name).to.equal(name)
          }
          await verified(db)
        }),
        RUNS,
      )
    })

    it('leave two sides that agree, also beside refreshes in one session', async () => {
      const steps = fc.oneof({ weight: 3, arbitrary: changes }, { weight: 2, arbitrary: call }, refresh)
      await fc.assert(
        fc.asyncProperty(
          fc.boolean(),
          fc.array(fc.array(steps, { maxLength: 9 }), { maxLength: 4 }),
          async (isWhole, groups) => {
            await start()
            const session = db.session()
            const loaded = await loadAll(session, isWhole)
            const items = new Map<string, Item>()
            for (const all of groups) {
              const results: Promise<unknown>[] = []
              for (const step of all) {
                if (isCall(step)) results.push(begin(session, loaded, step))
                else if (!isRefresh(step)) make(session, loaded, step, items)
                else if (step.do === 'refresh parent') results.push(session.refresh(loaded.parents[step.parent]))
                else results.push(session.refresh(loaded.children[step.child]))
              }
              await Promise.all(results)
            }
            await session.flush()
            expect(session.isDirty()).to.equal(false)
            await verified(db)
            const stored = await storedLines(db)
            for (const [p, one] of loaded.parents.entries())
              for (const relation of MANY)
                if (membersOf(one, relation).isLoaded)
                  for (const { code } of membersOf(one, relation))
                    expect(stored.map((line) => line.replace(/ \d$/, ''))).to.include(
                      `${relation} ${p} ${CHILDREN.indexOf(code)}`,
                    )
          },
        ),
        RUNS,
      )
    })

    it('leave two sides that agree, in several sessions that move, link and delete at once', async () => {
      const steps = fc.array(fc.oneof({ weight: 6, arbitrary: changes }, remove), { minLength: 1, maxLength: 5 })
      await fc.assert(
        fc.asyncProperty(fc.array(steps, { minLength: 2, maxLength: 4 }), async (actors) => {
          await start()
          await Promise.all(actors.map((all) => act(db, all)))
          await verified(db)
        }),
        RUNS,
      )
    })
  })
}

/** Makes each change in the session it has; after a failure it goes on with another one, and what is gone is left out. */
async function act(db: Database, steps: readonly (AnyChange | Made<typeof remove>)[]): Promise<void> {
  let session = db.session()
  const load = (): Promise<Loaded | undefined> => loadAll(session, false).catch(() => undefined)
  let loaded = await load()
  for (const step of steps) {
    if (step.do === 'make' || step.do === 'drop') continue
    try {
      if (step.do === 'delete') await session.delete(Child, childKey(CHILDREN[step.child]))
      else {
        loaded ??= await load()
        if (loaded === undefined) return
        make(session, loaded, step, new Map())
        await session.flush()
      }
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error
      // Begun work is completed or found to be impossible; then another session goes on.
      await session.flush().catch(() => undefined)
      session = db.session()
      loaded = undefined
    }
  }
}
