/** Numbers in the page: short for people, and their places on logarithmic axes. */

/** A value as charts and tooltips show it; null stands for what was not finite. */
export function show(value: number | null): string {
  return value === null ? "not finite" : String(Number(value.toPrecision(3)));
}

/** A scale of y: logarithmic or not, and the power of ten at which exact zeros stand. */
export interface AxisScale {
  readonly log: boolean;
  readonly zeroAt: number | null;
}

/** Where a value stands on the axis: powers of ten where the scale is logarithmic, zeros one decade below the rest. */
export function toAxis({ log, zeroAt }: AxisScale, y: number | null): number {
  if (y === null) return NaN;
  if (!log) return y;
  return y === 0 ? zeroAt ?? NaN : Math.log10(y);
}

/** An x axis: logarithmic or not. */
export interface XScale {
  readonly isLogLog?: true;
}

/** Where an x stands on its axis. */
export function toXAxis({ isLogLog }: XScale, x: number): number {
  return isLogLog ? Math.log10(x) : x;
}

/** The x at a place of its axis. */
export function fromXAxis({ isLogLog }: XScale, place: number): number {
  return isLogLog ? 10 ** place : place;
}

/** At most six powers of ten, and 0 where it stands. */
export function logTicks(
  { zeroAt }: AxisScale,
  { min, max }: { readonly min: number; readonly max: number },
): { value: number; label: string }[] {
  const first = zeroAt === null ? Math.ceil(min) : zeroAt + 1;
  const stride = Math.max(1, Math.ceil((Math.floor(max) - first + 1) / 5));
  const ticks = zeroAt === null ? [] : [{ value: zeroAt, label: "0" }];
  for (let power = first; power <= max; power += stride) {
    const label = power >= -3 && power <= 4 ? show(10 ** power) : `1e${power}`;
    ticks.push({ value: power, label });
  }
  return ticks;
}
