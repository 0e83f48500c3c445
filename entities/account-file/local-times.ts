// Local times of a company and the instants they are, in both directions. Most days have one offset from first to last
// minute: it is kept, so that a million times cost a million additions; the days of a clock change go through Temporal.
import { LRUCache } from 'lru-cache';

const DAY_MS = 86_400_000;

export class LocalTimes {
  readonly zone: string;
  // By day: its offset in ms, or null where the offset changes within it.
  readonly #localDays = new LRUCache<string, { offset: number | null }>({ max: 20_000 });
  readonly #utcDays = new LRUCache<number, { offset: number | null }>({ max: 20_000 });

  /** `zone` is an IANA name. */
  constructor(zone: string) {
    this.zone = zone;
  }

  /**
   * The instant, in milliseconds since 1970, of a local `YYYY-MM-DD` and `HH:MM:SS`; undefined where the clocks skipped it.
   * Of a time that occurs twice, the earlier unless asked otherwise.
   */
  instantOf(date: string, time: string, occurrence: 'earlier' | 'later' = 'earlier'): number | undefined {
    const offset = this.#offsetOfLocalDay(date);
    if (offset !== null) return Date.parse(`${date}T${time}Z`) - offset;
    const local = Temporal.PlainDateTime.from(`${date}T${time}`);
    const zoned = local.toZonedDateTime(this.zone, { disambiguation: occurrence });
    return zoned.toPlainDateTime().equals(local) ? zoned.epochMilliseconds : undefined;
  }

  /** `YYYY-MM-DD HH:MM:SS`, the local time of an instant in seconds since 1970. */
  localOf(epochSeconds: number): string {
    const ms = epochSeconds * 1000;
    const offset = this.#offsetOfUtcDay(Math.floor(ms / DAY_MS)) ?? this.#offsetAt(ms);
    return new Date(ms + offset).toISOString().slice(0, 19).replace('T', ' ');
  }

  #offsetOfLocalDay(date: string): number | null {
    const known = this.#localDays.get(date);
    if (known) return known.offset;
    const start = Temporal.PlainDate.from(date).toZonedDateTime(this.zone);
    const next = start.add({ days: 1 }).startOfDay();
    const steady = start.offsetNanoseconds === next.offsetNanoseconds && start.hoursInDay === 24;
    const offset = steady ? start.offsetNanoseconds / 1e6 : null;
    this.#localDays.set(date, { offset });
    return offset;
  }

  #offsetOfUtcDay(day: number): number | null {
    const known = this.#utcDays.get(day);
    if (known) return known.offset;
    const [first, last] = [this.#offsetAt(day * DAY_MS), this.#offsetAt((day + 1) * DAY_MS)];
    const offset = first === last ? first : null;
    this.#utcDays.set(day, { offset });
    return offset;
  }

  #offsetAt(ms: number): number {
    return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(this.zone).offsetNanoseconds / 1e6;
  }
}

/** Whether it is the name of a time zone (an offset such as `+01:00` is not). */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
