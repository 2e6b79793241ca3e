import { expect } from 'chai'
import { NODES } from './server.js'

/** Expects that many round trips; on several nodes each may be a call to every node. */
export function expectRoundTrips(actual: number, expected: number): void {
  if (NODES === 1) expect(actual).to.equal(expected)
  else expect(actual).to.be.within(expected, expected * NODES)
}
