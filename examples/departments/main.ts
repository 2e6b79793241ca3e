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
    const founding = await trafficOf(() =>
      db.withSession(async (session) => {
        session.create(Department, { id: 1, name: 'Sales' })
        session.create(Department, { id: 2, name: 'Research' })
      }),
    )
    print(`Two departments: ${show(founding)}`)
    const hiring = await trafficOf(async () => {
      for (let first = 0; first < employees; first += CHUNK) {
        const session = db.session()
        for (let id = first; id < Math.min(first + CHUNK, employees); id++) {
          session.create(Employee, { id, name: `employee ${id}` }).department.set(1)
        }
        await session.flush()
      }
    })
    print(`Employees are hired, ${CHUNK} at a time: ${show(hiring)}`)

    const session = db.session()
    const [sales, research] = await session.loadMany(Department, [1, 2])
    let staff = 0
    const counting = await trafficOf(async () => (staff = await sales.employees.count()))
    print(`${sales.name} has ${staff.toLocaleString('en')} employees: ${show(counting)}`)

    const moving = await trafficOf(async () => {
      research.employees.add(await session.load(Employee, 7))
      await session.flush()
    })
    print(`Employee 7 moves to ${research.name}: ${show(moving)}`)
    const loading = await trafficOf(() => research.employees.load())
    print(`${research.name}: ${research.employees.items.map(({ name }) => name).join(', ')}: ${show(loading)}`)

    let pages = 0
    let seen = 0
    const paging = await trafficOf(async () => {
      let after: string | undefined
      do {
        const page = await sales.employees.page({ count: 250, after })
        seen += page.length
        pages++
        after = page.next
      } while (after !== undefined)
    })
    print(`${pages} pages show ${seen.toLocaleString('en')} employees of ${sales.name}: ${show(paging)}`)

    let steps = 0
    const deleting = await trafficOf(() => db.session().delete(Department, 1, { onProgress: () => steps++ }))
    print(`${sales.name} and its employees are deleted${steps > 0 ? ', in steps' : ''}: ${show(deleting)}`)
    const left = await db.session().findMany(Employee, [0, 7])
    print(`Left: ${left.flatMap((each) => each?.name ?? []).join(', ')}`)
  } finally {
    await db.close()
  }
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
