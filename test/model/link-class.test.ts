import { expect } from 'chai'
import { collection, compileModel, CountOf, Index, Key, ManyToMany, ManyToOne, Record, ref } from 'skein'
import { expectProblem } from './problems-of.js'

describe('a relation through link records', () => {
  @Record({ set: 'person' })
  class Person {
    @Key() id!: string
    @CountOf('follows') followed = 0
    @ManyToMany(() => Person, { through: () => Follow, name: 'f' }) follows = collection<Person, Follow>()
    @ManyToMany(() => Person, { through: () => Follow, strategy: 'secondaryIndex', indexName: 'by_to' })
    followers = collection<Person, Follow>()
  }
  @Record({ set: 'follow', key: '{from}:{to}' })
  class Follow {
    @ManyToOne(() => Person, 'follows') from = ref<Person>()
    @ManyToOne(() => Person, 'followers') to = ref<Person>()
  }

  it('is described by the class that it leads to and by that of the links', () => {
    const model = compileModel([Person, Follow], { namespace: 'test' })
    expect(model.describe())
      .to.contain("follows: manyToMany Person through Follow.from, keyList in 'f', onDelete cascade, orphans delete")
      .and.contain('followers: manyToMany Person through Follow.to, secondaryIndex, onDelete cascade, orphans delete')
    expect(model.entity('Follow').indexes.map(({ name, bin }) => [name, bin])).to.deep.equal([['by_to', 'to']])
  })

  describe('is refused', () => {
    it('where the link has no reference to this end', () => {
      @Record({ set: 'a' })
      class A {
        @Key() id!: string
        @ManyToMany(() => A, { through: () => Link }) all = collection<A, Link>()
      }
      @Record({ set: 'link', key: '{from}:{to}' })
      class Link {
        @ManyToOne(() => A) from = ref<A>()
        @ManyToOne(() => A) to = ref<A>()
      }
      expectProblem([A, Link], 'SKEIN_1042', 'A.all', /no reference to this end/, /@ManyToOne\(\(\) => A, 'all'\)/)
    })

    it('where the key is not made of both ends', () => {
      @Record({ set: 'a' })
      class A {
        @Key() id!: string
        @ManyToMany(() => A, { through: () => Link }) all = collection<A, Link>()
      }
      @Record({ set: 'link' })
      class Link {
        @Key() id!: string
        @ManyToOne(() => A, 'all') from = ref<A>()
        @ManyToOne(() => A) to = ref<A>()
      }
      expectProblem([A, Link], 'SKEIN_1057', 'A.all', /not made of its two ends/, /'\{from\}:\{to\}'/)
    })

    it('where the links lead to another class', () => {
      @Record({ set: 'a' })
      class A {
        @Key() id!: string
        @ManyToMany(() => A, { through: () => Link }) all = collection<A, Link>()
      }
      @Record({ set: 'b' })
      class B {
        @Key() id!: string
      }
      @Record({ set: 'link', key: '{from}:{to}' })
      class Link {
        @ManyToOne(() => A, 'all') from = ref<A>()
        @ManyToOne(() => B) to = ref<B>()
      }
      expectProblem([A, B, Link], 'SKEIN_1044', 'A.all', /Link.to leads to B/, /same class/)
    })

    it('where the class of links is not given to the model, or an option has no effect', () => {
      @Record({ set: 'a' })
      class A {
        @Key() id!: string
        @ManyToMany(() => A, { through: () => Follow }) all = collection<A, Follow>()
      }
      expectProblem([A], 'SKEIN_1040', 'A.all', /The class of its links, Follow/, /entities: \[…, Follow\]/)
      @Record({ set: 'b' })
      class B {
        @Key() id!: string
        @ManyToMany(() => B, { through: () => Link, ...({ owner: true } as object) }) all = collection<B, Link>()
      }
      @Record({ set: 'link', key: '{from}:{to}' })
      class Link {
        @ManyToOne(() => B, 'all') from = ref<B>()
        @ManyToOne(() => B) to = ref<B>()
      }
      expectProblem([B, Link], 'SKEIN_1048', 'B.all', /'owner'/, /through/)
    })

    it('where links would stay without an end', () => {
      @Record({ set: 'c' })
      class C {
        @Key() id!: string
        @ManyToMany(() => C, { through: () => Link, onDelete: 'detach' as 'cascade' }) all = collection<C, Link>()
      }
      @Record({ set: 'link', key: '{from}:{to}' })
      class Link {
        @ManyToOne(() => C, 'all') from = ref<C>()
        @ManyToOne(() => C) to = ref<C>()
      }
      expectProblem([C, Link], 'SKEIN_1049', 'C.all', /'detach'/, /'cascade' or 'restrict'/)
    })

    it('with an index on the keys of links', () => {
      @Record({ set: 'a' })
      class A {
        @Key() id!: string
        @Index() @ManyToMany(() => A, { through: () => Link }) all = collection<A, Link>()
      }
      @Record({ set: 'link', key: '{from}:{to}' })
      class Link {
        @ManyToOne(() => A, 'all') from = ref<A>()
        @ManyToOne(() => A) to = ref<A>()
      }
      expectProblem([A, Link], 'SKEIN_1026', 'A.all', /both ends at once/, /Link.to/)
    })
  })
})
