import { infoParameters } from '../info/info-text.js'
import { createIndex, namespaceName, type IndexStore } from '../info/sindex-info.js'
import { clockOffset, setClockOffset } from '../store/clock.js'
import type { Namespace } from '../store/namespace.js'
import type { Transaction } from '../store/slot.js'
import type { JournalEntry, RecordChange } from './entry.js'
import { JournalFile } from './journal-file.js'
import { cannotBeUsed, UnusableFileError } from './unusable-file.js'

const RECORDS_PER_ENTRY = 100

/** Keeps what a store acknowledges in a file, and brings it back. Changes are written before they are made. */
export class Journal {
  readonly #store: IndexStore
  readonly #file: JournalFile
  /** The parameters with which each index was made, by namespace and name. */
  readonly #indexes = new Map<string, { namespace: string; name: string; definition: string }>()

  /** Opens the file and brings its content into a store that is still empty. */
  constructor(store: IndexStore, path: string) {
    this.#store = store
    try {
      this.#file = JournalFile.open(path, (entry) => this.#restore(path, entry))
    } catch (error) {
      throw error instanceof UnusableFileError ? error : cannotBeUsed(path, error as Error)
    }
  }

  /** Changes of records that belong together: all of them are found again, or none. */
  records(namespace: Namespace, changes: readonly RecordChange[]): void {
    if (changes.length > 0) this.#add({ kind: 'records', namespace: namespace.name, changes })
  }

  index(definition: string): void {
    this.#add({ kind: 'index', definition })
    this.#remember(definition)
  }

  noIndex(namespace: string, name: string): void {
    this.#add({ kind: 'no index', namespace, name })
    this.#indexes.delete(`${namespace}:${name}`)
  }

  clock(): void {
    this.#add({ kind: 'clock', offset: clockOffset() })
  }

  close(): void {
    this.#file.close()
  }

  /** The file is written anew before an entry is added, because the change that the entry tells of is not made yet. */
  #add(entry: JournalEntry): void {
    if (this.#file.isWasteful) this.#file.replace(this.#everything())
    this.#file.add(entry)
  }

  *#everything(): Iterable<JournalEntry> {
    if (clockOffset() !== 0) yield { kind: 'clock', offset: clockOffset() }
    for (const { namespace, name, definition } of this.#indexes.values()) {
      if (this.#store.namespaces.get(namespace)?.indexes.get(name)) yield { kind: 'index', definition }
    }
    for (const namespace of this.#store.namespaces.values()) yield* recordsOf(namespace)
  }

  #restore(path: string, entry: JournalEntry): void {
    switch (entry.kind) {
      case 'clock':
        return setClockOffset(entry.offset)
      case 'records': {
        const namespace = this.#namespace(path, entry.namespace)
        for (const { digest, state } of entry.changes) namespace.restore(digest, state)
        return
      }
      case 'no index':
        this.#indexes.delete(`${entry.namespace}:${entry.name}`)
        this.#namespace(path, entry.namespace).indexes.delete(entry.name)
        return
      case 'index':
        this.#remember(entry.definition)
        this.#namespace(path, namespaceName(infoParameters(entry.definition)) ?? '')
        // An index that was refused then is refused now.
        createIndex(this.#store, entry.definition)
    }
  }

  #remember(definition: string): void {
    const parameters = infoParameters(definition)
    const namespace = namespaceName(parameters) ?? ''
    const name = parameters.get('indexname') ?? ''
    this.#indexes.set(`${namespace}:${name}`, { namespace, name, definition })
  }

  #namespace(path: string, name: string): Namespace {
    const namespace = this.#store.namespaces.get(name)
    if (namespace !== undefined) return namespace
    throw new UnusableFileError(
      `The data file "${path}" has the namespace "${name}", which this server does not have.`,
      'Name it among the namespaces, or use another file.',
    )
  }
}

/** All that is committed, and after it what transactions have only to carry out. */
function* recordsOf(namespace: Namespace): Iterable<JournalEntry> {
  let changes: RecordChange[] = []
  const transactions = new Set<Transaction>()
  for (const slot of namespace.slots()) {
    const { committed, provisional } = slot
    if (provisional?.transaction.committing) transactions.add(provisional.transaction)
    if (committed === undefined) continue
    changes.push({ digest: slot.digest, state: committed })
    if (changes.length < RECORDS_PER_ENTRY) continue
    yield { kind: 'records', namespace: namespace.name, changes }
    changes = []
  }
  if (changes.length > 0) yield { kind: 'records', namespace: namespace.name, changes }
  for (const { changes } of transactions) yield { kind: 'records', namespace: namespace.name, changes }
}
