import { read } from '../../../plan/command.js'
import { readExpression } from '../../../plan/operations.js'
import { recordId } from '../../../plan/record-key.js'
import type { LocatedPart } from '../../contract/relation-strategy.js'
import type { PartTable } from '../consolidate/part-table.js'
import type { AskedHomes } from './part-homes.js'

/** A child that is in a companion of its owner: its changes are recorded beside those of the owner's record, and it is asked there. */
export function locateApart(child: LocatedPart, table: PartTable, homes: AskedHomes): LocatedPart {
  const { id, place } = child
  const { reader } = table
  const { model, key } = table.owner
  return {
    ...child,
    apart: {
      record: (operation) => table.recorded.add(id, place!, operation),
      get recorded() {
        return table.recorded.of(id)
      },
      ask: async (expressions) => {
        const operations = expressions.map((one, i) => readExpression(`_sk.q${i}`, one))
        const [answers] = await homes.ask([key], reader, (home) =>
          recordId(home) === recordId(homes.homeOf(key, id, place!))
            ? read(model.name, home, 'none', operations)
            : undefined,
        )
        const record = answers.find((each) => each.record !== null)?.record ?? undefined
        return record && operations.map(({ name }) => record.bins[name])
      },
    },
  }
}
