// Properties of sealed ids, for any record, company and key.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Ids, KINDS, type Kind } from '../../platform/ids.ts';

const kinds = Object.keys(KINDS).filter((name): name is Kind => name in KINDS);
const aKind = fc.constantFrom(...kinds);
const aNumber = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const anAccount = fc.integer({ min: 1, max: 2 ** 47 });
const aRecord = fc.record({ account: anAccount, kind: aKind, number: aNumber });
const aSecret = fc.string({ minLength: 16, maxLength: 64 });

const ids = new Ids(['a key of the tests, long enough']);
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

test('[ID-01] an id opens to its record, and a record has the same id every time', () => {
  fc.assert(
    fc.property(aRecord, ({ account, kind, number }) => {
      const id = ids.seal(account, kind, number);
      expect(ids.open(account, kind, id)).toBe(number);
      expect(ids.seal(account, kind, number)).toBe(id);
      // Another process with the same key makes the same id.
      expect(new Ids(['a key of the tests, long enough']).seal(account, kind, number)).toBe(id);
    }),
  );
});

test('[ID-01] a page of ids sealed at once is the same as each sealed alone', () => {
  fc.assert(
    fc.property(anAccount, fc.array(fc.record({ kind: aKind, number: aNumber })), (account, records) => {
      expect(ids.sealAll(account, records)).toEqual(records.map(({ kind, number }) => ids.seal(account, kind, number)));
    }),
  );
});

test('[ID-01] another company does not open an id, nor has it', () => {
  fc.assert(
    fc.property(aRecord, anAccount, ({ account, kind, number }, other) => {
      fc.pre(other !== account);
      const id = ids.seal(account, kind, number);
      expect(ids.open(other, kind, id)).toBeUndefined();
      expect(ids.seal(other, kind, number)).not.toBe(id);
    }),
  );
});

test('[ID-01] another kind of record does not open an id, nor has it', () => {
  fc.assert(
    fc.property(aRecord, aKind, ({ account, kind, number }, other) => {
      fc.pre(other !== kind);
      const id = ids.seal(account, kind, number);
      expect(ids.open(account, other, id)).toBeUndefined();
      expect(ids.seal(account, other, number)).not.toBe(id);
    }),
  );
});

test('[ID-01] an id tells nothing of the number: neighbours have nothing in common', () => {
  fc.assert(
    fc.property(aRecord, ({ account, kind, number }) => {
      fc.pre(number < Number.MAX_SAFE_INTEGER);
      const [one = '', next = ''] = [number, number + 1].map((each) => ids.seal(account, kind, each).slice(1));
      const same = [...one].filter((character, index) => character === next[index]);
      // About a third of one of the 22 characters, from 64, is equal by chance.
      expect(same.length).toBeLessThan(10);
    }),
  );
});

test('[ID-01] no two kinds have the same number inside an id', () => {
  const codes = Object.values(KINDS).map(({ code }) => code);
  expect(new Set(codes).size).toBe(codes.length);
  const tables = Object.values(KINDS).map(({ table }) => table);
  expect(new Set(tables).size).toBe(tables.length);
});

describe('[ID-02] an id that was tampered with does not open:', () => {
  test('any character replaced by any other', () => {
    for (const kind of kinds) {
      const id = ids.seal(42, kind, 1_000_000_001);
      for (let at = 0; at < id.length; at++) {
        for (const character of BASE64URL) {
          if (character === id[at]) continue;
          expect(ids.open(42, kind, id.slice(0, at) + character + id.slice(at + 1))).toBeUndefined();
        }
      }
    }
  });

  test('cut, lengthened or with something inside', () => {
    fc.assert(
      fc.property(
        aRecord,
        fc.nat(23),
        fc.string({ minLength: 1, maxLength: 30 }),
        ({ account, kind, number }, at, more) => {
          const id = ids.seal(account, kind, number);
          expect(ids.open(account, kind, id + more)).toBeUndefined();
          expect(ids.open(account, kind, more + id)).toBeUndefined();
          expect(ids.open(account, kind, id.slice(0, at) + more + id.slice(at))).toBeUndefined();
          if (at < 23) expect(ids.open(account, kind, id.slice(0, at))).toBeUndefined();
          if (at > 0) expect(ids.open(account, kind, id.slice(at))).toBeUndefined();
        },
      ),
    );
  });

  test('written another way: other alphabet, padding, case, white space', () => {
    fc.assert(
      fc.property(aRecord, ({ account, kind, number }) => {
        const id = ids.seal(account, kind, number);
        const others = [
          id.replaceAll('-', '+').replaceAll('_', '/'),
          `${id}==`,
          id.toLowerCase(),
          id.toUpperCase(),
          ` ${id}`,
          `${id}\n`,
          encodeURIComponent(`${id}%`),
        ];
        for (const other of others) if (other !== id) expect(ids.open(account, kind, other)).toBeUndefined();
      }),
    );
  });

  test('made up altogether', () => {
    const anything = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...BASE64URL), minLength: 23, maxLength: 23 }),
    );
    fc.assert(
      fc.property(aRecord, anything, ({ account, kind }, made) => {
        fc.pre(!/^\d+$/.test(made));
        expect(ids.open(account, kind, made)).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
  });

  test('sealed with a key that this service never had', () => {
    fc.assert(
      fc.property(aRecord, aSecret, ({ account, kind, number }, secret) => {
        expect(ids.open(account, kind, new Ids([secret]).seal(account, kind, number))).toBeUndefined();
      }),
    );
  });
});

test('[ID-02] ids are URL-safe: the same in a path, a query and a header as they are', () => {
  fc.assert(
    fc.property(aRecord, ({ account, kind, number }) => {
      const id = ids.seal(account, kind, number);
      expect(id).toMatch(/^[a-z][A-Za-z0-9_-]{22}$/);
      expect(encodeURIComponent(id)).toBe(id);
      // Never read as a legacy number.
      expect(id).not.toMatch(/^\d+$/);
    }),
  );
});

test('[ID-02] after the key was rotated, ids under the older keys still open, and new ids are under the newest', () => {
  fc.assert(
    fc.property(
      aRecord,
      fc.uniqueArray(aSecret, { minLength: 2, maxLength: 5 }),
      ({ account, kind, number }, [newest = '', ...older]) => {
        const rotated = new Ids([newest, ...older]);
        for (const secret of older) {
          expect(rotated.open(account, kind, new Ids([secret]).seal(account, kind, number))).toBe(number);
        }
        expect(rotated.seal(account, kind, number)).toBe(new Ids([newest]).seal(account, kind, number));
        // Ids of a removed key no longer open.
        expect(new Ids([newest]).open(account, kind, new Ids(older).seal(account, kind, number))).toBeUndefined();
      },
    ),
  );
});

test('[ID-02] keys whose ids begin with the same letter are told apart', () => {
  const secrets = Array.from({ length: 60 }, (_, index) => `key number ${index} of sixty`);
  const all = new Ids(secrets);
  for (const secret of secrets) {
    expect(all.open(7, 'invoice', new Ids([secret]).seal(7, 'invoice', 1_000_000_009))).toBe(1_000_000_009);
  }
});

test('[ID-02] a service without any key does not start', () => {
  expect(() => new Ids([])).toThrow('at least one key');
});

test('[ID-03] the legacy form is a number or its digits', () => {
  fc.assert(
    fc.property(aRecord, ({ account, kind, number }) => {
      expect(ids.open(account, kind, number)).toBe(number);
      expect(ids.open(account, kind, String(number))).toBe(number);
    }),
  );
});

test.each([
  0,
  -1,
  1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  2 ** 53,
  '',
  '0',
  '-1',
  '+1',
  '1.0',
  '1e3',
  '0x10',
  ' 1',
  '1 ',
  '1_000',
  '9007199254740993',
  '12345678901234567',
  '１２',
  '٣',
])('[ID-03] %o is not a legacy number', (value) => {
  expect(ids.open(1, 'employee', value)).toBeUndefined();
});
