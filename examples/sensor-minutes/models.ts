import 'reflect-metadata'
import { Bin, Counter, Embeddable, Embedded, Record } from 'skein'

/** Stored as a list of its fields, which the server compares one after the other: the time first. */
@Embeddable({ layout: 'tuple' })
export class Reading {
  @Bin() at!: Date
  @Bin({ type: 'double' }) celsius!: number
}

/** A day of one sensor, with up to 1,440 readings in the order of time. */
@Record({ set: 'sensor_minutes', key: '{sensor}:{day|YYYY-MM-DD}' })
export class SensorDay {
  @Bin() sensor!: string
  @Bin() day!: Date
  @Counter() samples = 0
  @Embedded(() => Reading, { as: 'array', order: 'sorted', unique: true, persistIndex: true }) readings: Reading[] = []
}

export const reading = (at: Date, celsius: number): Reading => Object.assign(new Reading(), { at, celsius })
