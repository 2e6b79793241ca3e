import { Query } from './query.js'

/**
 * A query whose entities the session manages: one that it already has stays as it is in the session, with its unsent changes, and
 * one that it is to delete is left out. The stored values decide which records are found.
 *
 * @example
 * const drafts = await session.query(Listing).where({ state: 'draft' }).with('agent').toArray()
 */
export class SessionQuery<T extends object, Path extends string = string> extends Query<T> {
  /** Relations to load along, as paths; one batch read for each level and step. */
  with(...paths: readonly Path[]): this {
    this.source.checkPaths(paths)
    return this.derive({ paths: [...this.state.paths, ...paths] })
  }

  protected override doneHere(): string[] {
    const { paths } = this.state
    const load = paths.length === 0 ? [] : [`loads ${paths.join(', ')} along, in one batch read for each level`]
    return [...super.doneHere(), ...load, 'leaves out what the session is to delete']
  }
}
