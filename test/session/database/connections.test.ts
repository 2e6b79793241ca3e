import { expect } from 'chai'
import type { OpenOptions } from 'skein'
import { Page } from '../models.js'
import { inEachMode } from '../modes.js'

// Counters go alone, and loads together: all kinds of commands at once, none of which may be tried again.
inEachMode('a database never needs more connections than the client may open:', (bed) => {
  const settings: Partial<OpenOptions>[] = [
    { maxConnsPerNode: 3 },
    { maxConnsPerNode: 4 },
    { maxConnsPerNode: 5, limits: { roundTrips: 10 } },
    { limits: { alone: 200 } },
    { limits: { roundTrips: Infinity, alone: Infinity } },
  ]
  for (const options of settings) {
    it(
      JSON.stringify(options, (_, value: unknown) => (value === Infinity ? 'Infinity' : value)),
      async () => {
        const db = await bed().open({ ...options, retry: { attempts: 1 } })
        const session = db.session()
        const pages = Array.from({ length: 300 }, () => session.create(Page, { path: bed().fresh() }))
        await session.flush()
        for (const page of pages) page.views++
        await Promise.all([
          ...pages.map((page) => session.save(page)),
          ...pages.map(({ path }) => db.session().load(Page, path)),
          ...pages.map(({ path }) => db.read(Page, [path])),
          ...pages.map(() => db.session().save(Object.assign(new Page(), { path: bed().fresh() }))),
        ])
        const stored = await db.read(
          Page,
          pages.map(({ path }) => path),
        )
        expect(stored.every((page) => page?.views === 1)).to.equal(true)
        await db.close()
      },
    )
  }
})
