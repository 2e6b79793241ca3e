import { expect } from 'chai'
import type { Database, EntityClass, Finding } from 'skein'

/** Findings of a run over these classes, which judges everything. */
export async function findingsOf(db: Database, classes: readonly EntityClass[], repair: boolean): Promise<Finding[]> {
  const findings: Finding[] = []
  for await (const finding of db.verify(classes, { repair, settle: 0 })) findings.push(finding)
  return findings
}

/** Expects these findings, shown as text: they are found, repair mends them, and then there are none. */
export async function expectMended(
  expected: readonly string[],
  verify: (repair: boolean) => Promise<readonly string[]>,
): Promise<void> {
  expect(await verify(false)).to.have.members(expected.map((each) => `${each} found`))
  expect(await verify(true)).to.have.members(expected.map((each) => `${each} repaired`))
  expect(await verify(false)).to.deep.equal([])
}
