import {
  Bin,
  Embeddable,
  Embedded,
  Index,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  collection,
  compileModel,
  ref,
} from 'skein'
import { expect } from 'chai'
import { expectProblem, problemsOf } from './problems-of.js'

describe('a model with a wrong name is refused', () => {
  it('when a bin name has over 15 bytes', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Bin() aNameOf16Letters!: string
    }
    expectProblem([A], 'SKEIN_1010', 'A.aNameOf16Letters', /has 16 bytes/, /name: '…'/)

    @Record({ set: 'b' })
    class B {
      @Key() id!: number
      @Bin({ name: 'äöüäöüäö' }) umlauts!: string
    }
    expectProblem([B], 'SKEIN_1010', 'B.umlauts', /has 16 bytes/, /name: '…'/)
  })

  it('when an indexed bin name has over 14 bytes', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Index() @Bin() aNameOf15Chars_!: string
    }
    expectProblem([A], 'SKEIN_1011', 'A.aNameOf15Chars_', /has 15 bytes; an indexed bin has at most 14/, /name: '…'/)
  })

  it('when the bin that a relation indexes has over 14 bytes', () => {
    @Record({ set: 'parent' })
    class Parent {
      @Key() id!: number
      @OneToMany(() => Child, 'aNameOf15Chars_', { strategy: 'secondaryIndex' }) children = collection<Child>()
    }
    @Record({ set: 'child' })
    class Child {
      @Key() id!: number
      @ManyToOne(() => Parent, 'children') aNameOf15Chars_ = ref<Parent>()
    }
    expectProblem([Parent, Child], 'SKEIN_1011', 'Child.aNameOf15Chars_', /has 15 bytes/, /name: '…'/)
  })

  it('when two properties have the same bin', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Bin({ name: 'x' }) one!: string
      @Bin({ name: 'x' }) two!: string
    }
    expectProblem([A], 'SKEIN_1012', 'A.two', /'x' is already used by A.one/, /name: '…'/)
  })

  it('when a discriminator has the bin of a property', () => {
    @Record({ set: 'a', discriminator: 'kind', discriminatorValue: 'a' })
    class A {
      @Key() id!: number
      @Bin() kind!: string
    }
    expectProblem([A], 'SKEIN_1012', 'A', /'kind' is already used by A.kind/, /discriminator: '…'/)
  })

  it('when the fields of a part have the same name, or its bins that of a property', () => {
    @Embeddable()
    class Part {
      @Bin({ name: 'x' }) one!: string
      @Bin({ name: 'x' }) two!: string
    }
    @Embeddable()
    class Nameless {
      @Bin({ name: '' }) field!: string
    }
    @Record({ set: 'n' })
    class N {
      @Key() id!: number
      @Embedded(() => Nameless) part?: Nameless
    }
    expectProblem([N], 'SKEIN_1014', 'Nameless.field', /empty/, /name: '…'/)

    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Embedded(() => Part) part?: Part
    }
    expectProblem([A], 'SKEIN_1012', 'Part.two', /field 'x' is already used by Part.one/, /name: '…'/)

    @Embeddable()
    class City {
      @Bin() city!: string
    }
    @Record({ set: 'b' })
    class B {
      @Key() id!: number
      @Bin({ name: 'a_city' }) city!: string
      @Embedded(() => City, { layout: 'bins', prefix: 'a_' }) address?: City
    }
    expectProblem([B], 'SKEIN_1012', 'B.address', /'a_city' is already used by B.city/, /prefix: '…'/)
  })

  it('when the client would lose the bin because of its name', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Bin({ name: '__proto__' }) lost!: string
    }
    @Embeddable()
    class Part {
      @Bin({ name: '__proto__' }) field!: string
    }
    @Record({ set: 'b' })
    class B {
      @Key() id!: number
      @Embedded(() => Part) part!: Part
    }
    expectProblem([B], 'SKEIN_1014', 'Part.field', /__proto__/, /./)
    expectProblem([A], 'SKEIN_1014', 'A.lost', /'__proto__' cannot be the name of a bin/, /name: '…'/)
  })

  it('when a bin name is reserved', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Bin() subkeys!: string
      @Bin({ name: '_sk.deleting' }) mark!: string
    }
    expect(problemsOf(A).map(({ code, property }) => [code, property])).to.deep.equal([
      ['SKEIN_1013', 'subkeys'],
      ['SKEIN_1013', 'mark'],
    ])
  })

  it('when a name is empty or has characters that cannot be sent', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Bin({ name: '' }) none!: string
      @Bin({ name: 'a\0b' }) nul!: string
      @Index() @Bin({ name: 'a;b' }) semicolon!: string
      @Index({ name: 'my index' }) @Bin() space!: string
    }
    expect(problemsOf(A).map(({ code, property }) => `${code} ${property}`)).to.have.members([
      'SKEIN_1014 none',
      'SKEIN_1014 nul',
      'SKEIN_1014 semicolon',
      'SKEIN_1014 semicolon',
      'SKEIN_1014 space',
    ])
  })

  it('when a set is missing or cannot be a set', () => {
    @Record()
    class NoSet {
      @Key() id!: number
    }
    expectProblem([NoSet], 'SKEIN_1032', 'NoSet', /no set/, /@Record\(\{ set/)
    for (const set of ['', 'a:b', 'a;b', 'a\0', 'x'.repeat(64)]) {
      @Record({ set })
      class Bad {
        @Key() id!: number
      }
      expectProblem([Bad], 'SKEIN_1032', 'Bad', /cannot be the name of a set/, /1 to 63 bytes/)
    }
  })

  it('when a namespace cannot be a namespace', () => {
    @Record({ set: 'a', namespace: 'my namespace' })
    class A {
      @Key() id!: number
    }
    expectProblem([A], 'SKEIN_1033', 'A', /'my namespace'/, /1 to 31/)
    expect(() => compileModel([], { namespace: '' })).to.throw(/SKEIN_1033/)
  })

  it('when two indexes have the same name', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Index({ name: 'i' }) @Bin() one!: string
      @Index({ name: 'i' }) @Bin() two!: string
    }
    expectProblem([A], 'SKEIN_1028', 'A.two', /'i' is already used in the namespace 'test'/, /@Index\(\{ name/)
  })

  it('when two classes have the same name', () => {
    const first = (() => {
      @Record({ set: 'a' })
      class Same {
        @Key() id!: number
      }
      return Same
    })()
    @Record({ set: 'b' })
    class Same {
      @Key() id!: number
    }
    expectProblem([first, Same], 'SKEIN_1037', 'Same', /same name/, /@Record\(\{ name/)
  })
})

describe('the names of a model', () => {
  it('may be anything that Aerospike takes', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      @Bin() exactly15Chars_!: string
      @Bin({ name: '"];exit()//' }) quoted!: string
      @Bin({ name: 'proto' }) __proto__!: string
      @Bin() constructorName!: string
    }
    const bins = compileModel([A], { namespace: 'test' })
      .entity(A)
      .properties.map(({ bin }) => bin)
    expect(bins).to.deep.equal(['id', 'exactly15Chars_', '"];exit()//', 'proto', 'constructorName'])
  })
})
