import { bug } from '../../errors/index.js'
import type { Outcome, Reason } from '../../plan/outcome.js'

/** The outcomes, where each was written or refused for one of these reasons; throws what went wrong otherwise. */
export function succeeded(outcomes: readonly Outcome[], tolerated: readonly Reason[]): readonly Outcome[] {
  for (const { state, reason, error, command } of outcomes) {
    if (state === 'written' || (state === 'notWritten' && reason !== undefined && tolerated.includes(reason))) continue
    throw error ?? bug(`a move met ${reason ?? state}`, { className: command.entity, key: command.key.key })
  }
  return outcomes
}
