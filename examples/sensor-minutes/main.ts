import 'reflect-metadata'
import { open } from 'skein'
import { showBytes, trafficOf } from '../traffic.js'
import { where } from '../where.js'
import { reading, SensorDay } from './models.js'

const MINUTE = 60_000
const DAY = Date.parse('2024-05-01T00:00:00Z')
const at = (hour: number, minute = 0): Date => new Date(DAY + (60 * hour + minute) * MINUTE)

/** A day of readings, one a minute, as tuples in a sorted list: reported, asked for and trimmed without ever being loaded. */
export async function main(print: (text: string) => void): Promise<void> {
  const db = await open({ ...where(), entities: [SensorDay] })
  try {
    const session = db.session()
    const day = session.at(SensorDay, { sensor: 'roof', day: at(0) }, { create: true })
    const readings = day.list('readings')
    const reporting = await trafficOf(async () => {
      for (let hour = 0; hour < 24; hour++) {
        const found = Array.from({ length: 60 }, (_, minute) => reading(at(hour, minute), hour + minute / 60))
        // A sensor may report in any order, and repeat what it has reported.
        readings.append(...found.reverse(), found[0])
        day.counter('samples').add(60)
        await session.flush()
      }
    })
    print(`${(await readings.size()).toLocaleString('en')} readings reported: ${showBytes(reporting)}`)

    const one = await trafficOf(async () => {
      readings.append(reading(new Date(at(23, 59).getTime() + 1), 24))
      await session.flush()
    })
    print(`One more: ${showBytes(one)}`)

    const window = await trafficOf(async () => {
      const found = await readings.between([at(8)], [at(8, 30)])
      print(`Between 8:00 and 8:30: ${found.length} readings, up to ${found.at(-1)!.celsius.toFixed(1)} °C`)
    })
    print(`  ${showBytes(window)}`)

    const latest = await trafficOf(async () => {
      const [last] = await readings.last(1)
      print(`The last one: ${last.celsius} °C, ${await readings.countBetween([at(12)])} since noon`)
    })
    print(`  ${showBytes(latest)}`)

    const trimming = await trafficOf(async () => {
      readings.keepBetween([at(12)])
      await session.flush()
    })
    print(`${await readings.size()} are left after trimming the morning: ${showBytes(trimming)}`)
  } finally {
    await db.close()
  }
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
