// Converts local times of a company to instants and back. The offset of a day is cached, so most conversions are one addition.
// Days with a clock change go through Temporal.
import { LRUCache } from 'lru-cache';

const DAY_MS = 86_400_000;

export class LocalTimes {
  readonly zone: string;
  // By day: the offset in ms, or null if it changes during the day.
  readonly #localDays = new LRUCache<string, { offset: number | null }>({ max: 20_000 });
  readonly #utcDays = new LRUCache<number, { offset: number | null }>({ max: 20_000 });

  /** `zone` is an IANA name. */
  constructor(zone: string) {
    this.zone = zone;
  }

  /**
   * The instant of a local `YYYY-MM-DD` and `HH:MM:SS` in milliseconds since 1970; undefined if a clock change skips it.
   * `occurrence` decides between the two instants of a time that occurs twice.
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

/** Whether `name` is an IANA time zone. An offset such as `+01:00` is not. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
