import { CommandError, ResultCode } from '../protocol/result-code.js'
import type { ResolvedOptions } from '../options.js'
import { Journal } from '../journal/journal.js'
import { Namespace } from './namespace.js'

const TRANSACTION_SWEEP_MS = 500

/** Everything a server holds. */
export class Store {
  readonly namespaces = new Map<string, Namespace>()
  /** Open client connections. */
  connections = 0
  /** Keeps what is acknowledged, where the server has a data file. */
  journal: Journal | undefined
  readonly #timers: NodeJS.Timeout[] = []

  constructor(readonly options: ResolvedOptions) {
    for (const namespace of options.namespaces) {
      this.namespaces.set(namespace.name, new Namespace(namespace, options.limits))
    }
  }

  /** Brings back what a data file holds, and keeps in it what follows. */
  keepIn(file: string): void {
    this.journal = new Journal(this, file)
    for (const namespace of this.namespaces.values()) {
      namespace.journal = this.journal
      namespace.renewVersions()
    }
  }

  /** Resolves once queries can use every index. */
  async indexesReady(): Promise<void> {
    const isReady = (): boolean =>
      [...this.namespaces.values()].every((namespace) => namespace.indexes.all().every((index) => index.readable))
    while (!isReady()) await new Promise<void>((resolve) => setImmediate(resolve))
  }

  namespace(name: string): Namespace {
    const namespace = this.namespaces.get(name)
    if (namespace === undefined) throw new CommandError(ResultCode.NAMESPACE_NOT_FOUND)
    return namespace
  }

  /** True when the server answers like an enterprise one. */
  get enterprise(): boolean {
    return [...this.namespaces.values()].some((namespace) => namespace.strong)
  }

  startSweeping(): void {
    for (const namespace of this.namespaces.values()) {
      const { nsupPeriod } = namespace.options
      if (nsupPeriod > 0) this.#timers.push(setInterval(() => namespace.sweep(), nsupPeriod * 1000))
      if (namespace.strong) this.#timers.push(setInterval(() => namespace.transactions.sweep(), TRANSACTION_SWEEP_MS))
    }
  }

  stopSweeping(): void {
    for (const timer of this.#timers.splice(0)) clearInterval(timer)
  }
}
