import type { WriteCommand } from '../../plan/command.js'
import { plan, stage, type Plan } from '../../plan/plan.js'
import { showKey } from '../../plan/record-key.js'
import { byReference, isChanged } from './copy-upkeep.js'
import { referenceSetBy, type CopyLink, type CopyLinks } from './copy-links.js'

/** Describes the copies that follow from these plans: their records are found once the sources are written. */
export function explainCopies(copies: CopyLinks, plans: readonly Plan[]): Plan {
  const writes = plans
    .flatMap(({ stages }) => stages.flatMap(({ commands }) => commands))
    .filter((command) => command.kind === 'write')
  const told = writes.flatMap((command) => [...ofSource(copies, command), ...ofHolder(copies, command)])
  return plan([stage('copies', [], told.length === 0 ? undefined : [...new Set(told)].join('\n'))])
}

function ofSource(copies: CopyLinks, command: WriteCommand): string[] {
  const links = copies.takenFrom(command.key).filter((link) => link.refresh === 'onSave' && isChanged(link, command))
  return [...byReference(links)].map((group) => {
    const [{ holder, relation, source }] = group
    const each = `each ${holder.name} whose ${relation.name} leads to it`
    return `read ${source.name} ${showKey(command.key, true)}: write its copies in ${each} (${namesOf(group)})`
  })
}

function ofHolder(copies: CopyLinks, command: WriteCommand): string[] {
  const links = copies.heldIn(command.key).filter((link) => {
    const source = referenceSetBy(command, link)
    return link.refresh === 'onSave' && source !== undefined && source !== null
  })
  return [...byReference(links)].map((group) => {
    const [{ holder, source }] = group
    const name = `${holder.name} ${showKey(command.key, true)}`
    return `read the ${source.name} of ${name} again: if it was changed meanwhile, write ${namesOf(group)} once more`
  })
}

const namesOf = (links: readonly CopyLink[]): string => links.map(({ property }) => property).join(', ')
