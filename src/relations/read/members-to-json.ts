import { isCollection } from '../contract/member.js'

/** Members with their own values and the keys of their refs, but without their collections: the graph may come back to where it began. */
export function membersToJSON(members: readonly object[]): unknown[] {
  return members.map((member) => ('toJSON' in member ? member : withoutCollections(member)))
}

function withoutCollections(member: object): object {
  return Object.fromEntries(Object.entries(member).filter(([, value]) => !isCollection(value)))
}
