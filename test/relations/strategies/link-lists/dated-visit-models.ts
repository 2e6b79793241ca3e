import { Bin, collection, DeletedAt, Embeddable, Key, ManyToMany, Record, Sharded, type EntityClass } from 'skein'

@Embeddable()
export class Visit {
  @Bin() day!: Date
  @Bin() why!: string
  @DeletedAt() calledOffAt?: Date
}

/** Keeps its links by day. */
@Record({ set: 'edv_patient' })
export class Patient {
  @Key() id!: string
  @Sharded({ by: 'day', on: 'day', subkeys: 'doctorsIn' })
  @ManyToMany(() => Doctor, 'patients', { owner: true, attributes: () => Visit })
  doctors = collection<Doctor, Visit>()
  @Sharded({ by: 'day', on: 'day', subkeys: 'wardsIn' })
  @ManyToMany(() => Ward, { attributes: () => Visit })
  wards = collection<Ward, Visit>()
}

/** Keeps the same links by hour. */
@Record({ set: 'edv_doctor' })
export class Doctor {
  @Key() id!: string
  @Sharded({ by: 'hour', every: 6, on: 'day' })
  @ManyToMany(() => Patient, 'doctors', { attributes: () => Visit })
  patients = collection<Patient, Visit>()
}

/** Knows nothing of who was there. */
@Record({ set: 'edv_ward' })
export class Ward {
  @Key() id!: string
}

export const VISITS: EntityClass[] = [Patient, Doctor, Ward]
export const [MONDAY, TUESDAY, WEDNESDAY] = [16, 17, 18].map((day) => new Date(`2026-11-${day}T09:00:00Z`))
