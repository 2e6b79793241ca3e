import 'reflect-metadata'
import { open } from 'skein'
import { show, trafficOf } from '../traffic.js'
import { where } from '../where.js'
import { Reading, SensorDay } from './models.js'

const HOUR = 3_600_000
const START = Date.parse('2024-05-01T00:00:00Z')

/** Readings of a sensor, one record a day; the last week is one batch, and old days expire. */
export async function main(print: (text: string) => void, days = 10): Promise<void> {
  const db = await open({ ...where(), entities: [SensorDay] })
  try {
    const reporting = await trafficOf(async () => {
      for (let hour = 0; hour < days * 24; hour++) {
        const at = new Date(START + hour * HOUR)
        // The sensor is off on the fourth day.
        if (at.getUTCDate() === 4) continue
        await db.withSession((session) => {
          const day = session.at(SensorDay, { sensor: 'roof', day: at }, { create: true })
          day.counter('samples').add(1)
          day.collection('readings').add(Object.assign(new Reading(), { celsius: hour % 24 }))
        })
      }
    })
    print(`${(days - 1) * 24} readings reported: ${show(reporting)}`)

    const week = { from: new Date(START), to: new Date(START + 7 * 24 * HOUR) }
    const reading = await trafficOf(async () => {
      const found = await db.session().loadRange(SensorDay, { sensor: 'roof' }, week)
      const warmest = found.map(({ readings }) => Math.max(...readings.items.map(({ celsius }) => celsius)))
      print(`${found.length} of 7 days have readings, the warmest of each: ${warmest.join(' ')}`)
    })
    print(`Read: ${show(reading)}`)

    let samples = 0
    const all = { from: new Date(START), to: new Date(START + days * 24 * HOUR), only: ['samples'] } as const
    for await (const day of db.slices(SensorDay, { sensor: 'roof' }, all)) samples += day.samples
    print(`${samples} samples in all`)
  } finally {
    await db.close()
  }
}

if (process.argv[1] === import.meta.filename) await main((text) => console.log(text))
