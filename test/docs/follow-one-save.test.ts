import { Session as Inspector } from 'node:inspector/promises'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { Bin, Key, ManyToOne, OneToMany, Record, collection, open, ref, type Database } from 'skein'
import { readDoc } from './doc-program.js'

@Record({ set: 'agent' })
class Agent {
  @Key() id!: number
  @Bin() name!: string
  @OneToMany(() => Listing, 'agent', { strategy: 'keyList', onDelete: 'cascade' }) listings = collection<Listing>()
}

@Record({ set: 'listing' })
class Listing {
  @Key() id!: string
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
}

/** Works by a timer of its own, whatever is called. */
const BESIDE = new Set(['driver/partition-owners.ts'])

/** The most files that a call may walk through: a reader has to follow it. */
const MOST_FILES = { Save: 60, Load: 57, Delete: 75 }

/** Files of `src` whose functions the work calls. */
async function filesWalked(inspector: Inspector, work: () => Promise<unknown>): Promise<ReadonlySet<string>> {
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await work()
  const { result } = await inspector.post('Profiler.takePreciseCoverage')
  await inspector.post('Profiler.stopPreciseCoverage')
  // Transactions are released on the next turn, which is not a part of the call that follows.
  await setImmediate()
  const called = result.filter(({ functions }) => functions.some((one) => one.functionName && one.ranges[0].count > 0))
  const names = called.flatMap(({ url }) => /\/dist\/(.*)\.js$/.exec(url)?.[1] ?? []).map((name) => `${name}.ts`)
  return new Set(names.filter((name) => !BESIDE.has(name)))
}

function filesNamed(section: string): string[] {
  const text = readDoc('internals/follow-one-save.md')
    .split(/^## /m)
    .find((each) => each.startsWith(section))!
  return [
    ...new Set(
      [...text.matchAll(/`((?:session|relations|plan|driver|codec)\/[a-z/-]+\.ts)`/g)].map(([, name]) => name),
    ),
  ]
}

describe('docs/internals/follow-one-save.md', () => {
  const walked = new Map<string, ReadonlySet<string>>()
  let db: Database

  before(async () => {
    const inspector = new Inspector()
    inspector.connect()
    await inspector.post('Profiler.enable')
    db = await open({ embedded: true, namespace: 'test', entities: [Agent, Listing] })
    const agent = Object.assign(new Agent(), { id: 17, name: 'Alma' })
    agent.listings.add(Object.assign(new Listing(), { id: 'a' }))
    walked.set('Save', await filesWalked(inspector, () => db.session().save(agent)))
    const session = db.session()
    let loaded!: Agent
    walked.set(
      'Load',
      await filesWalked(inspector, async () => (loaded = await session.load(Agent, 17, { with: ['listings'] }))),
    )
    walked.set('Delete', await filesWalked(inspector, () => session.delete(loaded)))
    inspector.disconnect()
  })
  after(() => db?.close())

  for (const section of ['Save', 'Load', 'Delete'] as const) {
    it(`names the files that a ${section.toLowerCase()} walks through`, () => {
      const named = filesNamed(section)
      expect(named.length).to.be.greaterThan(5)
      expect(named.filter((name) => !walked.get(section)!.has(name))).to.deep.equal([])
    })

    it(`is about a ${section.toLowerCase()} that walks through no more files than before`, () => {
      const files = [...walked.get(section)!].sort()
      expect(files.length, files.join('\n')).to.be.at.most(MOST_FILES[section])
    })
  }
})
