import Aerospike from 'aerospike'
import type { Database } from 'skein'
import { fromBins, Listing, toBins } from './listing.js'

const { CREATE, UPDATE } = Aerospike.policy.exists
// Policy that Skein sends with, because a policy given to a call replaces the configured one.
const TIMEOUTS = { socketTimeout: 0, totalTimeout: 3000, maxRetries: 0 }
const NOT_FOUND = Aerospike.status.ERR_RECORD_NOT_FOUND

/** Loads, saves and deletes as people write them on the official client, with what Skein promises: nothing more, nothing less. */
export class ByHand {
  readonly #client: Database['client']
  readonly #namespace: string
  readonly #create = new Aerospike.WritePolicy({ ...TIMEOUTS, exists: CREATE })
  readonly #update = new Aerospike.OperatePolicy({ ...TIMEOUTS, exists: UPDATE })
  readonly #remove: Aerospike.RemovePolicy
  readonly #keepTtl = { ttl: Aerospike.ttl.DONT_UPDATE }

  constructor({ client, capabilities }: Database, namespace: string) {
    this.#client = client
    this.#namespace = namespace
    const { strongConsistency } = capabilities.namespaces[namespace]
    this.#remove = new Aerospike.RemovePolicy({ ...TIMEOUTS, durableDelete: strongConsistency })
  }

  async load(id: number): Promise<Listing> {
    return fromBins((await this.#client.get(this.#key(id))).bins)
  }

  async loadMany(ids: readonly number[]): Promise<Listing[]> {
    const rows = await this.#client.batchRead(ids.map((id) => ({ key: this.#key(id), readAllBins: true })))
    return rows.map(({ status, record }) => {
      if (status !== Aerospike.status.OK) throw new Error(`The server answered ${String(status)}.`)
      return fromBins(record.bins)
    })
  }

  async insert(one: Listing): Promise<Listing> {
    await this.#client.put(this.#key(one.id), toBins(one), {}, this.#create)
    return one
  }

  async savePrice({ id, price }: Pick<Listing, 'id' | 'price'>): Promise<void> {
    const operations = [Aerospike.operations.write('price', price)]
    await this.#client.operate(this.#key(id), operations, this.#keepTtl, this.#update)
  }

  async delete(id: number): Promise<boolean> {
    try {
      await this.#client.remove(this.#key(id), this.#remove)
      return true
    } catch (error) {
      if ((error as { code?: number }).code === NOT_FOUND) return false
      throw error
    }
  }

  #key(id: number): Aerospike.Key {
    return new Aerospike.Key(this.#namespace, 'bench', id)
  }
}
