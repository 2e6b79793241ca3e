import {
  Bin,
  collection,
  Embeddable,
  Key,
  ManyToOne,
  OneToMany,
  OneToOne,
  Record,
  ref,
  UpdatedAt,
  Version,
  type Collection,
  type EntityClass,
  type Ref,
} from 'skein'

@Embeddable()
export class Remark {
  @Key() id!: number
  @Bin() text!: string
  @Bin({ type: 'double' }) weight?: number
  @ManyToOne(() => Author) by = ref<Author>()
}

@Record({ set: 'af_author' })
export class Author {
  @Key() id!: string
}

export interface Bill {
  id: number
  text?: string
  paidAt?: Date
  version?: number
  lines: Collection<Line>
  remarks: Collection<Remark>
  watchers: Collection<Author>
  receipt: Ref<Receipt>
}
export interface Line {
  id: string
  cents?: number
  bill: Ref<Bill>
  notes: Collection<Note>
}
export interface Note {
  id: string
  line: Ref<Line>
}
export interface Receipt {
  id: number
  number?: string
}
export interface Family {
  readonly Bill: new () => Bill
  readonly Line: new () => Line
  readonly Note: new () => Note
  readonly Receipt: new () => Receipt
  readonly all: EntityClass[]
}

/** A bill with all that moves along with it, to that namespace. */
export function familyIn(archive: string): Family {
  @Record({ set: 'af_bill', name: 'Bill', archive })
  class ABill implements Bill {
    @Key() id!: number
    @Bin() text?: string
    @Bin() paidAt?: Date
    @UpdatedAt() updatedAt?: Date
    @Version() version?: number
    @OneToMany(() => ALine, 'bill', { onDelete: 'cascade' }) lines = collection<ALine>()
    @OneToMany(() => Remark, {
      strategy: 'consolidate',
      sortKey: ['text'],
      orders: { heavy: ['weight'] },
      inverseIndex: { by: {} },
    })
    remarks = collection<Remark>()
    @OneToMany(() => Author) watchers = collection<Author>()
    @OneToOne(() => AReceipt, { strategy: 'sharedKey', onDelete: 'cascade' }) receipt = ref<AReceipt>()
  }
  @Record({ set: 'af_line', name: 'Line', archive })
  class ALine implements Line {
    @Key() id!: string
    @Bin() cents?: number
    @ManyToOne(() => ABill, 'lines') bill = ref<ABill>()
    @OneToMany(() => ANote, 'line', { onDelete: 'cascade' }) notes = collection<ANote>()
  }
  @Record({ set: 'af_note', name: 'Note', archive })
  class ANote implements Note {
    @Key() id!: string
    @ManyToOne(() => ALine, 'notes') line = ref<ALine>()
  }
  @Record({ set: 'af_receipt', name: 'Receipt', archive })
  class AReceipt implements Receipt {
    @Key() id!: number
    @Bin() number?: string
  }
  return {
    Bill: ABill,
    Line: ALine,
    Note: ANote,
    Receipt: AReceipt,
    all: [ABill, ALine, ANote, AReceipt, Author],
  }
}
