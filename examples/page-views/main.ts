import 'reflect-metadata'
import { open } from 'skein'
import { show, trafficOf } from '../traffic.js'
import { where } from '../where.js'
import { Page } from './models.js'

const WRITERS = 64

/** 64 writers count the views of one page at the same time. */
export async function main(print: (text: string) => void, viewsOfEach = 50): Promise<void> {
  const db = await open({ ...where(), entities: [Page] })
  try {
    await db.withSession((session) => void session.create(Page, { path: '/home', title: 'Home' }))
    const view = (): Promise<void> => db.withSession((session) => session.at(Page, '/home').counter('views').add(1))

    // The first view in each shard makes it.
    for (let i = 0; i < 16; i++) await view()
    const writing = await trafficOf(() =>
      Promise.all(
        Array.from({ length: WRITERS }, async () => {
          for (let i = 0; i < viewsOfEach; i++) await view()
        }),
      ),
    )
    print(`${WRITERS * viewsOfEach} views by ${WRITERS} writers: ${writing.commands} commands`)

    const reading = await trafficOf(async () => {
      const page = await db.session().load(Page, '/home')
      print(`${page.title} has ${page.views} views`)
    })
    print(`Read: ${show(reading)}`)
  } finally {
    await db.close()
  }
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
