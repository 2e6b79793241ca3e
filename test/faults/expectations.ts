import { expect } from 'chai'
import type { Case } from './families.js'

export interface States {
  readonly before: string
  readonly now: string
  readonly after: string
}

/** Everything is as before, or as it should be after; where records are not tied together, each of them. */
export function expectAllOrNothing({ operation }: Case, { before, now, after }: States, where: string): void {
  if (operation.isUntied !== true) return void expect([before, after], `${where}\n${now}`).to.include(now)
  const either = [...before.split('\n'), ...after.split('\n')]
  for (const record of now.split('\n')) expect(either, where).to.include(record)
}
