import { writeProperty } from '../../codec/index.js'
import { binEquals, read, write, type WriteCommand } from '../../plan/command.js'
import { isWrite } from '../../plan/effects.js'
import { removeBin, writeBin } from '../../plan/operations.js'
import type { Outcome, StoredRecord } from '../../plan/outcome.js'
import { recordId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import { sameValue } from '../../plan/same-value.js'
import { isDouble, type Value } from '../../plan/value.js'
import { callOptions } from '../context/session-context.js'
import { flushFailure } from '../flush/execute/flush-failure.js'
import type { Reader } from '../../relations/contract/reader.js'
import type { SendParts } from '../flush/session-parts.js'
import { referenceSetBy, sourceKey, type CopyLink, type CopyLinks } from './copy-links.js'
import { holdersOf } from './copy-holders.js'

/** A copy that was written with its reference, to be compared with its source once more. */
interface PendingHolder {
  readonly link: CopyLink
  readonly holder: RecordKey
  readonly source: UserKey
  /** As it is stored; null where there is none. */
  value: Value | null
}

interface PendingSource {
  readonly key: RecordKey
  readonly links: Set<CopyLink>
}

/** Times that a copy is written again because its source changed meanwhile; what is still stale then is found by `verify`. */
const ROUNDS = 5

/**
 * Brings copies in line after a flush: those whose source it changed, and those that were set while their source may have changed. Whoever
 * writes a copy reads its source afterwards, and writes again where they differ, so that the source decides. What fails stays
 * pending for the next flush.
 */
export class CopyUpkeep {
  readonly #copies: CopyLinks
  readonly #parts: SendParts
  readonly #holders = new Map<string, PendingHolder>()
  readonly #sources = new Map<string, PendingSource>()

  constructor(copies: CopyLinks, parts: SendParts) {
    this.#copies = copies
    this.#parts = parts
  }

  get isPending(): boolean {
    return this.#holders.size + this.#sources.size > 0
  }

  /** Notes what follows from commands that were sent; one in doubt may have been carried out. */
  note(outcomes: readonly Outcome[]): void {
    const sent = outcomes.flatMap(({ state, command }) =>
      state === 'notWritten' || command.kind !== 'write' ? [] : [command],
    )
    const changed = new Set<string>()
    for (const command of sent)
      for (const link of this.#copies.takenFrom(command.key))
        if (isChanged(link, command)) {
          changed.add(sourceId(link, command.key))
          this.#noteSource(link, command)
        }
    for (const command of sent)
      for (const link of this.#copies.heldIn(command.key)) this.#noteHolder(link, command, changed)
  }

  /** A copy that follows its source, or was read before the same flush has changed that, is compared with it once more. */
  #noteHolder(link: CopyLink, command: WriteCommand, changed: ReadonlySet<string>): void {
    const source = referenceSetBy(command, link)
    if (source === undefined) return
    const value = command.operations.findLast((one) => one.kind === 'writeBin' && one.bin === link.bin)
    const written = value?.kind === 'writeBin' ? value.value : null
    this.#show(link, command.key, written)
    const id = `${recordId(command.key)} ${link.bin}`
    this.#holders.delete(id)
    if (source === null) return
    const mayDiffer = written === null || changed.has(sourceId(link, sourceKey(link, source)))
    if (!mayDiffer && link.refresh !== 'onSave') return
    this.#holders.set(id, { link, holder: command.key, source, value: written })
  }

  #noteSource(link: CopyLink, { key }: WriteCommand): void {
    if (link.refresh !== 'onSave') return
    const pending = this.#sources.get(recordId(key)) ?? { key, links: new Set<CopyLink>() }
    pending.links.add(link)
    this.#sources.set(recordId(key), pending)
  }

  /** Writes what is pending; throws what a flush would throw. */
  async settle(reader: Reader, signal?: AbortSignal): Promise<void> {
    await this.#settleHolders(signal)
    for (const [id, { key, links }] of [...this.#sources]) {
      for (const group of byReference(links)) await this.#settleSource(key, group, reader, signal)
      this.#sources.delete(id)
    }
  }

  async #settleHolders(signal?: AbortSignal): Promise<void> {
    for (let round = 0; this.#holders.size > 0 && round < ROUNDS; round++) {
      const pending = [...this.#holders]
      const records = await this.#read(
        pending.map(([, { link, source }]) =>
          read(link.source.name, sourceKey(link, source), this.#copies.binsOf(link)),
        ),
        signal,
      )
      const changes: PendingHolder[] = []
      for (const [i, [id, each]] of pending.entries()) {
        const record = records[i]
        const value = record === null ? each.value : this.#copies.valueIn(each.link, record.bins)
        if (sameCopy(value, each.value)) this.#holders.delete(id)
        else changes.push(Object.assign(each, { value }))
      }
      await this.#write(
        changes.map(({ holder, source, link, value }) => ({ holder, source, copies: [{ link, value }] })),
        signal,
      )
    }
    this.#holders.clear()
  }

  /** All copies that one reference takes from a source are one write. */
  async #settleSource(key: RecordKey, links: readonly CopyLink[], reader: Reader, signal?: AbortSignal): Promise<void> {
    const [{ source }] = links
    const bins = [...new Set(links.flatMap((link) => this.#copies.binsOf(link)))]
    let written: readonly (Value | null)[] | undefined
    for (let round = 0; round < ROUNDS; round++) {
      const [record] = await this.#read([read(source.name, key, bins)], signal)
      if (record === null) return
      const values = links.map((link) => this.#copies.valueIn(link, record.bins))
      if (written?.every((value, i) => sameCopy(value, values[i]))) return
      const copies = links.map((link, i) => ({ link, value: values[i] }))
      for await (const holders of holdersOf(links[0], key, reader)) {
        signal?.throwIfAborted()
        await this.#write(
          holders.map((holder) => ({ holder, source: key.key, copies })),
          signal,
        )
      }
      written = values
    }
  }

  #read(commands: readonly ReturnType<typeof read>[], signal?: AbortSignal): Promise<(StoredRecord | null)[]> {
    const { context } = this.#parts
    return context.driver.read(commands, callOptions(context, signal))
  }

  async #write(changes: readonly CopyChange[], signal?: AbortSignal): Promise<void> {
    if (changes.length === 0) return
    const { context } = this.#parts
    const outcomes = await context.driver.run(changes.map(copyWrite), callOptions(context, signal))
    outcomes.forEach(({ state }, i) => {
      if (state !== 'written') return
      for (const { link, value } of changes[i].copies) this.#show(link, changes[i].holder, value)
    })
    const failed = outcomes.filter(({ state, reason }) => state !== 'written' && !OVERTAKEN.includes(reason!))
    if (failed.length > 0) throw flushFailure({ outcomes, failed }, signal)
  }

  /** Shows the copy on the entity that the session has of the record. */
  #show({ holder, property, bin }: CopyLink, key: RecordKey, value: Value | null): void {
    const { identity, classes } = this.#parts.context
    const managed = identity.get(classes.of(holder.name), key.key)
    const { snapshot, loaded, mapped, entity } = managed ?? {}
    if (managed === undefined || snapshot === undefined || mapped === undefined || entity === undefined) return
    if (loaded !== undefined && !loaded.has(property)) return
    writeProperty(
      entity,
      property,
      mapped.codec.propertyIn(property, value === null ? {} : { [bin]: unwrapped(value) }),
    )
    mapped.codec.acceptChange(entity, snapshot, property)
  }
}

/** True where a command changes what is copied from a record that was there before. */
export const isChanged = ({ fromBin }: CopyLink, { operations, exists }: WriteCommand): boolean =>
  exists !== 'mustNotExist' && operations.some((one) => 'bin' in one && one.bin === fromBin && isWrite(one))

const sourceId = ({ fromBin }: CopyLink, key: RecordKey): string => `${recordId(key)} ${fromBin}`

const OVERTAKEN: readonly string[] = ['missing', 'guard']

/** Copies that one record takes from a source. */
interface CopyChange {
  readonly holder: RecordKey
  readonly source: UserKey
  /** Of one reference; null removes the copy. */
  readonly copies: readonly { readonly link: CopyLink; readonly value: Value | null }[]
}

/** Writes copies only while their reference still leads to the source. */
export function copyWrite({ holder, source, copies }: CopyChange): WriteCommand {
  const [{ link }] = copies
  const changes = copies.map(({ link: { bin }, value }) => (value === null ? removeBin(bin) : writeBin(bin, value)))
  const guards = [binEquals(link.refBin, source)]
  return write(link.holder.name, holder, changes, { exists: 'mustExist', ttl: 'keep', guards })
}

/** Copies of one reference are written together. */
export function byReference(links: Iterable<CopyLink>): Iterable<CopyLink[]> {
  const groups = new Map<string, CopyLink[]>()
  for (const link of links) {
    const id = `${link.holder.name} ${link.refBin}`
    groups.set(id, [...(groups.get(id) ?? []), link])
  }
  return groups.values()
}

const sameCopy = (a: Value | null, b: Value | null): boolean =>
  a === null || b === null ? a === b : sameValue(a, unwrapped(b))

/** A value as the client would return it. */
const unwrapped = (value: Value): Value => (isDouble(value) ? value.value : value)
