import { callerContext, type InContext } from '../../driver/events.js'
import { ReceivedRead, type ReadRequest } from '../../driver/read-request.js'
import type { ReadCommand } from '../../plan/command.js'
import { mergeReads } from '../../plan/merge-reads.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { IdentityMap } from '../tracking/identity-map.js'
import type { ReadBatcher } from './read-batcher.js'

type Records = (StoredRecord | null)[]
type Found = (record: StoredRecord | null) => void

interface Waiting {
  readonly command: ReadCommand
  readonly found: Found
  readonly failed: (error: unknown) => void
  readonly inContext: InContext | undefined
}

/** Collects what one session reads past its identity map in one tick: what several ask of one record is one command, and leaves with the loads of the tick. */
export class RawReadBatcher {
  readonly #tick: ReadBatcher
  readonly #asker: IdentityMap
  #waiting: Waiting[] | undefined

  constructor(tick: ReadBatcher, asker: IdentityMap) {
    this.#tick = tick
    this.#asker = asker
  }

  read(commands: readonly ReadCommand[]): Promise<Records> {
    return new Promise((resolve, failed) => {
      const records = new Array<StoredRecord | null>(commands.length)
      let open = commands.length
      const inContext = callerContext()
      commands.forEach((command, i) => {
        const found: Found = (record) => {
          records[i] = record
          if (--open === 0) resolve(records)
        }
        this.#add({ command, found, failed, inContext })
      })
    })
  }

  #add(waiting: Waiting): void {
    if (this.#waiting !== undefined) return void this.#waiting.push(waiting)
    this.#waiting = [waiting]
    this.#tick.join(this.#take, this.#asker)
  }

  readonly #take = (): ReadRequest[] => {
    const waiting = this.#waiting!
    this.#waiting = undefined
    const { commands, answeredBy } = mergeReads(waiting.map(({ command }) => command))
    const askers = commands.map((): Waiting[] => [])
    waiting.forEach((one, i) => askers[answeredBy[i]].push(one))
    return commands.map(
      (command, i) =>
        new ReceivedRead(
          command,
          {
            found: (record) => askers[i].forEach(({ found }) => found(record)),
            failed: (error) => askers[i].forEach(({ failed }) => failed(error)),
          },
          this.#asker.session,
          askers[i][0].inContext,
        ),
    )
  }
}
