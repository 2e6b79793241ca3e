import 'reflect-metadata'
import { open } from 'skein'
import { show, trafficOf } from '../traffic.js'
import { where } from '../where.js'
import { Department, Employee } from './models.js'

const CHUNK = 500

/** Departments find their employees by an index on the employee's key bin: nothing is stored on the department. */
export async function main(print: (text: string) => void, employees = 2_000): Promise<void> {
  const db = await open({ ...where(), entities: [Department, Employee] })
  try {
    await db.indexes.sync({ onProgress: ({ index, percent }) => print(`index ${index}: ${percent} %`) })
    await db.withSession(async (session) => {
      session.create(Department, { id: 1, name: 'Sales' })
      session.create(Department, { id: 2, name: 'Research' })
    })
    for (let first = 0; first < employees; first += CHUNK) {
      const session = db.session()
      for (let id = first; id < Math.min(first + CHUNK, employees); id++) {
        session.create(Employee, { id, name: `employee ${id}` }).department.set(1)
      }
      await session.flush()
    }

    const session = db.session()
    const [sales, research] = await session.loadMany(Department, [1, 2])
    print(`${sales.name} has ${(await sales.employees.count()).toLocaleString('en')} employees`)

    const moving = await trafficOf(async () => {
      research.employees.add(await session.load(Employee, 7))
      await session.flush()
    })
    print(`Employee 7 moves to ${research.name}: ${show(moving)}`)
    print(`${research.name}: ${(await research.employees.load()).map(({ name }) => name).join(', ')}`)

    let pages = 0
    let seen = 0
    let after: string | undefined
    do {
      const page = await sales.employees.page({ count: 250, after })
      seen += page.length
      pages++
      after = page.next
    } while (after !== undefined)
    print(`${pages} pages show ${seen.toLocaleString('en')} employees of ${sales.name}`)

    let steps = 0
    await db.session().delete(Department, 1, { onProgress: () => steps++ })
    print(`${sales.name} and its employees are deleted${steps > 0 ? ', in steps' : ''}`)
    const left = await db.session().findMany(Employee, [0, 7])
    print(`Left: ${left.flatMap((each) => each?.name ?? []).join(', ')}`)
  } finally {
    await db.close()
  }
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
