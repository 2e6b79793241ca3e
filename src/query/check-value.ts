import { ValueProblem, fieldStep, indexStep, shown, throwUnder } from '../codec/value-problem.js'
import { didYouMean } from '../model/index.js'
import { isPlain } from './compile-where.js'
import type { Field } from './field.js'

/** Checks a part or a list that a bulk update sets; throws a ValueProblem whose path begins below the field. */
export function checkValue({ shape }: Field, given: unknown): void {
  if (given === null || given === undefined) return
  switch (shape.kind) {
    case 'scalar':
      shape.encode(given, 0)
      return
    case 'list': {
      if (!Array.isArray(given) && !(given instanceof Set))
        throw new ValueProblem(`${shown(given)} is not a list or a set`, 'Give all its items.')
      const items = [...(given as Iterable<unknown>)]
      items.forEach((item, i) => {
        if (item !== null && item !== undefined) below(indexStep(i), () => shape.item?.(item, 0))
      })
      return
    }
    case 'part': {
      if (typeof given !== 'object')
        throw new ValueProblem(`${shown(given)} is not a ${shape.name}`, 'Give the whole part.')
      const fields = shape.fields()
      for (const [name, value] of Object.entries(given)) {
        const field = fields.get(name)
        if (field !== undefined) below(fieldStep(name), () => checkValue(field, value))
        // An instance may have properties that are not stored; in a plain object they are mistakes.
        else if (isPlain(given))
          throw new ValueProblem(
            `${shape.name} has no stored property '${name}'`,
            `${didYouMean(name, [...fields.keys()])}It has: ${[...fields.keys()].join(', ')}.`,
          )
      }
    }
  }
}

function below(step: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    throwUnder(step, error)
  }
}
