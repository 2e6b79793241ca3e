import type { BinType } from '../../model/index.js'
import type { BinLayout } from '../../plan/bin-layout.js'
import type { MappedClass } from '../mapping/mapped-class.js'

/** The layout of a bin, and the property or relation it belongs to. */
export interface PropertyLayout extends BinLayout {
  readonly property: string
}

/** Layouts of all lists and maps that a class keeps in bins of its record. */
export function layoutsOf({ model, relations }: MappedClass): readonly PropertyLayout[] {
  return [
    ...model.properties.flatMap(({ name, bin, type }) =>
      layoutsIn(type, bin).map((each) => ({ ...each, property: name })),
    ),
    ...relations.flatMap(({ relation, layouts = [] }) => layouts.map((each) => ({ ...each, property: relation }))),
  ]
}

function layoutsIn(type: BinType, bin: string): readonly BinLayout[] {
  switch (type.kind) {
    case 'list':
      return [listLayout(bin, type)]
    case 'set':
      return [{ bin, kind: 'list', order: 'ordered', persistIndex: true }]
    case 'map':
      return [mapLayout(bin, type)]
    case 'embedded':
      switch (type.shape) {
        case 'one':
          return [mapLayout(bin, {})]
        case 'array':
          return [listLayout(bin, type)]
        case 'map':
          return [mapLayout(bin, type)]
        case 'bins':
          return type.fields.flatMap((field) => layoutsIn(field.type, field.bin))
      }
    default:
      return []
  }
}

interface Subtype {
  readonly order?: 'sorted' | 'keyValue'
  readonly persistIndex?: boolean
}

const listLayout = (bin: string, { order, persistIndex = false }: Subtype): BinLayout => ({
  bin,
  kind: 'list',
  order: order === 'sorted' ? 'ordered' : 'unordered',
  persistIndex,
})

const mapLayout = (bin: string, { order, persistIndex = false }: Subtype): BinLayout => ({
  bin,
  kind: 'map',
  order: order === 'keyValue' ? 'keyValue' : 'ordered',
  persistIndex,
})
