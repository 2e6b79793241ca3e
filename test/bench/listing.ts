import 'reflect-metadata'
import Aerospike from 'aerospike'
import { Bin, Key, Record } from 'skein'

/** The class of the budgets: ten flat properties. */
@Record({ set: 'bench' })
export class Listing {
  @Key() id!: number
  @Bin() title!: string
  @Bin() city!: string
  @Bin() street!: string
  @Bin() zip!: string
  @Bin() price!: number
  @Bin() rooms!: number
  @Bin({ type: 'double' }) area!: number
  @Bin() active!: boolean
  @Bin() listedAt!: Date
}

export function listing(id: number): Listing {
  const made = new Listing()
  made.id = id
  made.title = `House ${id}`
  made.city = `City ${id % 50}`
  made.street = `Street ${id % 300}`
  made.zip = String(10_000 + id)
  made.price = 100_000 + id
  made.rooms = id % 9
  made.area = id + 0.5
  made.active = id % 2 === 0
  made.listedAt = new Date(1_700_000_000_000 + id)
  return made
}

type Bins = { readonly [bin: string]: Aerospike.AerospikeBinValue }

/** Hand-written mapping around the client: the entity as bins. */
export function toBins(one: Listing): Bins {
  const { id, title, city, street, zip, price, rooms, area, active, listedAt } = one
  return {
    id,
    title,
    city,
    street,
    zip,
    price,
    rooms,
    // A double that happens to be integral would else be stored as an integer.
    area: new Aerospike.Double(area),
    active,
    listedAt: listedAt.getTime(),
  }
}

/** Hand-written mapping back: the bins as an entity. */
export function fromBins(bins: Bins): Listing {
  const made = new Listing()
  made.id = bins.id as number
  made.title = bins.title as string
  made.city = bins.city as string
  made.street = bins.street as string
  made.zip = bins.zip as string
  made.price = bins.price as number
  made.rooms = bins.rooms as number
  made.area = bins.area as number
  made.active = bins.active as boolean
  made.listedAt = new Date(bins.listedAt as number)
  return made
}
