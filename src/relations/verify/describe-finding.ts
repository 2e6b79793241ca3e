import { describeKey, type KeyValue } from '../../keys/index.js'
import type { EntityModel } from '../../model/index.js'
import { showKey, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { Finding, FindingKind } from '../contract/finding.js'
import { isDeletion } from './repair-links.js'
import type { Verdict } from './judge.js'
import type { LinkEnd, StoredLink } from '../contract/link-verification.js'

/** The key people use of a stored one. */
export type ShowKey = (model: EntityModel, stored: UserKey) => KeyValue

type Described = Omit<Finding, 'state' | 'error'>

export function describeLink(link: StoredLink, { kind, wrong, change }: Verdict, show: ShowKey): Described {
  const end = link[wrong]
  const other = wrong === 'owner' ? link.mirror : link.owner
  const { owner } = link
  const isGone = kind === 'danglingKey'
  const here = nameOf(end, show)
  const there = `${link.isEnded === true ? 'the ended link to ' : ''}${nameOf(other, show)}`
  const says = change === 'add' ? `lacks ${there}` : `holds ${there}`
  return {
    kind,
    className: end.model.name,
    property: end.property,
    key: show(end.model, end.key.key),
    otherClass: other.model.name,
    otherKey: show(other.model, other.key.key),
    truth: isGone
      ? other.model.name
      : link.isNote
        ? `${other.model.name}.${other.property}`
        : `${owner.model.name}.${owner.property}`,
    repair: change === 'add' || end.remove !== undefined ? change : isDeletion(end) ? 'delete' : 'none',
    message:
      SAYS[kind]?.(here, there, end, other) ?? `${here} ${says} in ${end.property}, ${because(other, change, isGone)}.`,
  }
}

const SAYS: { readonly [kind in FindingKind]?: (here: string, there: string, end: LinkEnd, other: LinkEnd) => string } =
  {
    differentAttributes: (here, there, end, other) =>
      `${here} has other attributes for ${there} in ${end.property} than that has in ${other.property}.`,
    endedAgain: (here, there, end) => `${here} still holds ${there} in ${end.property}, which is there again.`,
    unfinishedCreate: (here, there, _end, other) =>
      `${here} was created for ${there}, whose ${other.property} does not lead to it.`,
  }

function because(other: LinkEnd, change: 'add' | 'remove', isGone: boolean): string {
  if (isGone) return 'which has no record'
  return `${change === 'add' ? 'which names it' : 'which does not name it'} in ${other.property}`
}

/** Parts that all findings about a property of one record share. */
function aboutOwner(model: EntityModel, stored: UserKey, property: string, show: ShowKey) {
  return { className: model.name, property, key: show(model, stored), truth: model.name }
}

export function describeMarker(model: EntityModel, { key }: RecordKey, show: ShowKey): Described {
  const shown = show(model, key)
  return {
    kind: 'staleMarker',
    className: model.name,
    key: shown,
    truth: model.name,
    repair: 'finishDelete',
    message: `${model.name} ${describeKey(shown)} is marked as being deleted, and nobody is deleting it.`,
  }
}

/** A record and one that belongs to it are not in the same namespace: a move to the archive, or back, was cut off. */
export function describeMoved(end: LinkEnd, other: LinkEnd, show: ShowKey): Described {
  const [here, there] = [nameOf(end, show), nameOf(other, show)]
  return {
    kind: 'unfinishedArchive',
    className: end.model.name,
    property: end.property,
    key: show(end.model, end.key.key),
    otherClass: other.model.name,
    otherKey: show(other.model, other.key.key),
    truth: end.model.name,
    repair: 'none',
    message: `${here} names ${there} in ${end.property}, which is in the namespace '${other.model.archive}': a move was cut off, and archiving or unarchiving again completes it.`,
  }
}

export function describeHomeMarker(
  model: EntityModel,
  { key }: RecordKey,
  home: RecordKey,
  property: string,
  show: ShowKey,
): Described {
  const about = aboutOwner(model, key, property, show)
  return {
    ...about,
    kind: 'staleMarker',
    repair: 'reopen',
    message: `${showKey(home)}, which holds ${property} of ${model.name} ${describeKey(about.key)}, is marked as being deleted, but its owner is not.`,
  }
}

const WRONG_MEMBERS = {
  misplacedMember: { repair: 'move', says: ', which belongs in another record' },
  duplicateMember: { repair: 'remove', says: ' more than once; another program may have added it' },
} as const

/** Describes a member that a record holds, and should not, or not as often. */
export function describeMember(
  kind: keyof typeof WRONG_MEMBERS,
  model: EntityModel,
  { key }: RecordKey,
  home: RecordKey,
  property: string,
  member: UserKey,
  show: ShowKey,
): Described {
  const about = aboutOwner(model, key, property, show)
  const { repair, says } = WRONG_MEMBERS[kind]
  const message = `${showKey(home)} holds ${describeKey(member)} of ${property} of ${model.name} ${describeKey(about.key)}${says}.`
  return { ...about, kind, otherKey: member, repair, message }
}

export function describeUnfinished(model: EntityModel, { key }: RecordKey, property: string, show: ShowKey): Described {
  const about = aboutOwner(model, key, property, show)
  return {
    ...about,
    kind: 'unfinishedSplit',
    repair: 'move',
    message: `Members of ${property} of ${model.name} ${describeKey(about.key)} were being moved to other records, and not all of them are there.`,
  }
}

export function describeUnreadable(model: EntityModel, { key }: RecordKey, property: string, show: ShowKey): Described {
  const about = aboutOwner(model, key, property, show)
  return {
    ...about,
    kind: 'unreadable',
    repair: 'none',
    message: `${model.name} ${describeKey(about.key)} holds something other than keys in ${property}; another program may have written it.`,
  }
}

const nameOf = ({ model, key }: LinkEnd, show: ShowKey): string => `${model.name} ${describeKey(show(model, key.key))}`
