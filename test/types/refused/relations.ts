import {
  Bin,
  CountOf,
  Embeddable,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  Record,
  collection,
  ref,
} from 'skein'

@Embeddable()
class Comment {
  @Key() id!: string
  @Bin() at!: Date
  @ManyToOne(() => Agent) author = ref<Agent>()
}

@Record({ set: 'stranger' })
class Stranger {
  @Key() id!: number
  age = 5
}

@Record({ set: 'agent' })
export class Agent {
  @Key() id!: number
  @OneToMany(() => Listing, 'agent') listings = collection<Listing>()
  @OneToMany(() => Listing, 'seller') sold = collection<Listing>()
  @CountOf('listings') listingCount = 0
  // expect: @CountOf names a collection of the same class; listing is none.
  @CountOf('listing')
  wrongCount = 0
  // expect: The @CountOf property textCount is a number.
  @CountOf('listings')
  textCount = 'none'
  // expect: Declare it with the class of the relation: isRef = collection<…>()
  @OneToMany(() => Listing, 'agent')
  isRef = ref<Listing>()
  // expect: Declare it with the class of the relation: otherClass = collection<…>()
  @OneToMany(() => Listing, 'agent')
  otherClass = collection<Stranger>()
  // expect: Declare it with the class of the relation: isArray = collection<…>()
  @OneToMany(() => Listing, 'agent')
  isArray: Listing[] = []
  // expect: '"agnet"' is not assignable to parameter of type … "agent" … "seller"
  @OneToMany(() => Listing, 'agnet')
  typo = collection<Listing>()
  // expect: '"city"' is not assignable to parameter of type … "agent" … "seller"
  @OneToMany(() => Listing, 'city')
  notARef = collection<Listing>()
  // expect: The other side, stranger, is a relation to another class.
  @OneToMany(() => Listing, 'stranger')
  elsewhere = collection<Listing>()
  // expect: Type '"keyLst"' is not assignable to type
  @OneToMany(() => Listing, 'agent', { strategy: 'keyLst' })
  strategy = collection<Listing>()
  // expect: 'cap' does not exist in type 'SecondaryIndexOptions'
  @OneToMany(() => Listing, 'agent', { strategy: 'secondaryIndex', cap: { keep: 1, by: 'last' } })
  capped = collection<Listing>()
  // expect: Type '"consolidate"' is not assignable to type
  @OneToMany(() => Comment, 'author', { strategy: 'consolidate' })
  twoSided = collection<Comment>()
  // expect: Type '"secondaryIndex"' is not assignable to type
  @OneToMany(() => Listing, { strategy: 'secondaryIndex' })
  oneSided = collection<Listing>()
  // expect: 'onDelete' does not exist in type 'ConsolidateOptions
  @OneToMany(() => Comment, { strategy: 'consolidate', onDelete: 'cascade' })
  cascade = collection<Comment>()
  // expect: Type '"att"' is not assignable to type '"id" | "at"'
  @OneToMany(() => Comment, { strategy: 'consolidate', sortKey: ['att'] })
  sorted = collection<Comment>()
  // expect: 'at' does not exist in type '{ readonly author?:
  @OneToMany(() => Comment, { strategy: 'consolidate', inverseIndex: { at: {} } })
  inverse = collection<Comment>()
  // expect: ''replies.author'' does not exist in type
  @OneToMany(() => Comment, { strategy: 'consolidate', inverseIndex: { 'replies.author': {} } })
  below = collection<Comment>()
  // expect: '"agent"' is not assignable to parameter of type
  @ManyToMany(() => Listing, 'agent')
  many = collection<Listing>()
}

@Record({ set: 'listing' })
export class Listing {
  @Key() id!: string
  @Bin() city!: string
  @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
  @ManyToOne(() => Agent, 'sold') seller = ref<Agent>()
  @ManyToOne(() => Stranger) stranger = ref<Stranger>()
  // expect: Declare it with the class of the relation: many = ref<…>()
  @ManyToOne(() => Agent, 'listings')
  many = collection<Agent>()
  // expect: Type '"sharedKye"' is not assignable to type
  @OneToOne(() => Stranger, { strategy: 'sharedKye' })
  shared = ref<Stranger>()
  // expect: 'name' does not exist in type 'SharedKeyOptions'
  @OneToOne(() => Stranger, { strategy: 'sharedKey', name: 'x' })
  named = ref<Stranger>()
  // expect: 'onDelete' does not exist in type
  @ManyToOne(() => Agent, { onDelete: 'cascade' })
  upwards = ref<Agent>()
}
