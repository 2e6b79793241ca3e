import { remove } from '../../plan/command.js'
import type { Draft } from '../../plan/draft.js'
import { isWrittenOrMissing } from '../../plan/outcome.js'
import type { Contributor } from '../../relations/contract/contributor.js'
import type { Tracked } from '../../relations/contract/tracked.js'

/** Deletes the copy, too, that a move to the archive may have left when it was cut off: it would look as if it were archived. */
export const ARCHIVE_CONTRIBUTOR: Contributor = Object.freeze({
  hasChanges: () => false,
  save: () => undefined,
  remove({ model, key }: Tracked, draft: Draft): void {
    const copy = { ...key, namespace: model.archive! }
    draft.add('delete', remove(model.name, copy, { durableDelete: model.durableDelete }), isWrittenOrMissing)
  },
})
