import { BeforeSave, Bin, Embeddable, Key, Record, compileModel, type EntityClass } from 'skein'
import { expect } from 'chai'
import { expectProblem, problemsOf } from './problems-of.js'

describe('a model with a wrong class is refused', () => {
  it('when a class is not mapped, or not there', () => {
    class Plain {}
    expectProblem([Plain], 'SKEIN_1030', 'Plain', /not mapped/, /@Record/)
    const missing = [undefined] as unknown as EntityClass[]
    expectProblem(missing, 'SKEIN_1030', 'entities[0]', /position 0 is undefined/, /cycle of imports/)
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
    }
    const nested = [[A]] as unknown as EntityClass[]
    expectProblem(nested, 'SKEIN_1030', 'entities[0]', /position 0 is an array of 1/, /cycle of imports/)
  })

  it('when a subclass of a record is not decorated itself', () => {
    @Record({ set: 'animal', discriminator: 'kind', discriminatorValue: 'animal' })
    class Animal {
      @Key() id!: number
    }
    class Dog extends Animal {}
    expectProblem([Animal, Dog], 'SKEIN_1030', 'Dog', /not mapped/, /@Record/)
  })

  it('when a class is both a record and a part', () => {
    @Embeddable()
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
    }
    expectProblem([A], 'SKEIN_1031', 'A', /both @Record and @Embeddable/, /Keep the one/)
  })

  it('when two classes share a set without a discriminator', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
    }
    @Record({ set: 'a' })
    class B {
      @Key() id!: number
    }
    expectProblem([A, B], 'SKEIN_1034', 'B', /set 'a', like A/, /set of its own/)

    @Record({ set: 'animal' })
    class Animal {
      @Key() id!: number
    }
    @Record()
    class Dog extends Animal {}
    expectProblem([Dog, Animal], 'SKEIN_1034', 'Dog', /like Animal/, /discriminator: 'kind'/)
  })

  it('not when they are in different namespaces', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
    }
    @Record({ set: 'a', namespace: 'other' })
    class B {
      @Key() id!: number
    }
    expect(problemsOf(A, B)).to.deep.equal([])
  })

  it('when a discriminator is incomplete', () => {
    @Record({ set: 'animal', discriminator: 'kind' })
    class Animal {
      @Key() id!: number
    }
    @Record()
    class Dog extends Animal {}
    expectProblem([Animal, Dog], 'SKEIN_1035', 'Dog', /which value of the bin 'kind' means Dog/, /discriminatorValue/)

    @Record({ set: 'a', discriminatorValue: 'a' })
    class NoBin {
      @Key() id!: number
    }
    expectProblem([NoBin], 'SKEIN_1035', 'NoBin', /no base class names the bin/, /discriminator: 'kind'/)

    @Record({ discriminator: 'type', discriminatorValue: 'cat' })
    class Cat extends Animal {}
    expectProblem([Animal, Cat], 'SKEIN_1035', 'Cat', /already does/, /Leave discriminator out/)
  })

  it('when two classes have the same discriminator value', () => {
    @Record({ set: 'animal', discriminator: 'kind' })
    class Animal {
      @Key() id!: number
    }
    @Record({ discriminatorValue: 'pet' })
    class Dog extends Animal {}
    @Record({ discriminatorValue: 'pet' })
    class Cat extends Animal {}
    expectProblem([Animal, Dog, Cat], 'SKEIN_1036', 'Cat', /'pet' is also that of Dog/, /another value/)
  })

  it('when its time to live is not valid', () => {
    for (const ttl of [0, -1, 1.5, 400_000_000, 'forever' as 'never', { seconds: NaN }]) {
      @Record({ set: 'a', ttl })
      class A {
        @Key() id!: number
      }
      expectProblem([A], 'SKEIN_1038', 'A', /is not a time to live/, /whole seconds/)
    }
  })

  it('when a lifecycle hook is not a method', () => {
    @Record({ set: 'a' })
    class A {
      @Key() id!: number
      notAMethod = 5
    }
    BeforeSave()(A.prototype, 'notAMethod', {})
    expectProblem([A], 'SKEIN_1039', 'A.notAMethod', /something other than a method/, /notAMethod\(\)/)
  })

  it('when it has unknown options', () => {
    @Record({ set: 'a', tll: 5 } as { set: string })
    class A {
      @Key({ nmae: 'x' } as { name?: string }) id!: number
      @Bin({ index: true } as { name?: string }) name!: string
    }
    const problems = problemsOf(A)
    expect(problems.map(({ code, property }) => `${code} ${property}`)).to.deep.equal([
      'SKEIN_1048 undefined',
      'SKEIN_1048 id',
      'SKEIN_1048 name',
    ])
    expect(problems[0].fix).to.include("Did you mean 'ttl'?")
    expect(problems[1].fix).to.include("Did you mean 'name'?")
    expect(problems[2].message).to.equal("@Bin does not know the option 'index'.")
  })

  it('with all its problems at once', () => {
    @Record({ set: 'a:b' })
    class A {
      @Bin() list!: string[]
      @Bin({ name: 'muchTooLongBinName' }) name!: string
    }
    @Record({ set: 'b' })
    class B {
      @Key({ type: 'double' as 'int' }) id!: number
    }
    expect(problemsOf(A, B).map(({ code, className }) => `${code} ${className}`)).to.have.members([
      'SKEIN_1032 A',
      'SKEIN_1001 A',
      'SKEIN_1021 A',
      'SKEIN_1010 A',
      'SKEIN_1003 B',
    ])
    expect(() => compileModel([A, B], { namespace: 'test' })).to.throw(
      /The model has 5 problems:\n {2}SKEIN_1032 A: .*\n +Fix: /,
    )
  })
})
