import { expect } from 'chai'
import {
  Bin,
  collection,
  Embeddable,
  Embedded,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  Record,
  ref,
} from 'skein'
import { expectProblem, problemsOf } from './problems-of.js'

@Record({ set: 'shop', tenant: true })
class Shop {
  @Key() id!: string
}
@Record({ set: 'order', key: 'tenant:{tenant}:order:{no}', tenant: true })
class Order {
  @Bin() tenant!: string
  @Bin() no!: number
}
@Embeddable()
class Visit {
  @Key() id!: string
  @ManyToOne(() => Shop) shop = ref<Shop>()
}
@Embeddable()
class Trip {
  @Embedded(() => Visit) visit?: Visit
}

describe('a class that all tenants share', () => {
  const refused = (shared: abstract new () => object, property: string): void =>
    expectProblem(
      [shared, Shop],
      'SKEIN_1054',
      `City.${property}`,
      /City is shared by all tenants, and Shop/,
      /tenant: true/,
    )

  it('cannot list members of tenants, whatever the strategy', () => {
    for (const strategy of ['keyList', 'secondaryIndex'] as const) {
      @Record({ set: 'city' })
      class City {
        @Key() id!: number
        @OneToMany(() => Kiosk, 'city', { strategy }) kiosks = collection<Kiosk>()
      }
      @Record({ set: 'kiosk', tenant: true })
      class Kiosk {
        @Key() id!: string
        @ManyToOne(() => City, 'kiosks') city = ref<City>()
      }
      expectProblem([City, Kiosk], 'SKEIN_1054', 'City.kiosks', /City is shared.*Kiosk/, /tenant: true/)
    }
  })

  it('cannot refer to a record of tenants', () => {
    @Record({ set: 'city' })
    class City {
      @Key() id!: number
      @ManyToOne(() => Shop) shop = ref<Shop>()
    }
    refused(City, 'shop')
  })

  it('cannot share its key with one of tenants, nor link to one', () => {
    {
      @Record({ set: 'city' })
      class City {
        @Key() id!: string
        @OneToOne(() => Shop, { strategy: 'sharedKey', onDelete: 'cascade' }) shop = ref<Shop>()
      }
      refused(City, 'shop')
    }
    {
      @Record({ set: 'city' })
      class City {
        @Key() id!: string
        @ManyToMany(() => Shop) shops = collection<Shop>()
      }
      refused(City, 'shops')
    }
  })

  it('cannot hold parts that refer to records of tenants', () => {
    {
      @Record({ set: 'city' })
      class City {
        @Key() id!: number
        @Embedded(() => Trip, { as: 'array' }) trips: Trip[] = []
      }
      refused(City, 'trips')
    }
    {
      @Record({ set: 'city' })
      class City {
        @Key() id!: number
        @OneToMany(() => Visit, { strategy: 'consolidate' }) visits = collection<Visit>()
      }
      refused(City, 'visits')
    }
  })

  it('may be referred to, and a record whose key begins with that of a tenant is not shared', () => {
    @Record({ set: 'city' })
    class City {
      @Key() id!: number
    }
    @Record({ set: 'kiosk', tenant: true })
    class Kiosk {
      @Key() id!: string
      @ManyToOne(() => City) city = ref<City>()
    }
    @Record({ set: 'item', key: '{order}:item:{line}' })
    class Item {
      @ManyToOne(() => Order) order = ref<Order>()
      @Bin() line!: number
      @ManyToMany(() => Shop) shops = collection<Shop>()
    }
    expect(problemsOf(Kiosk, City, Item, Order, Shop)).to.deep.equal([])
  })
})
