/** Interleaved rounds: every case once, then every case again, so that what slows the machine slows all of them. */
import { stderrProgress } from "../../src/files/progress.ts";

/**
 * Measures cases in rounds. A first round warms everything up and is not counted.
 *
 * @param options.label The suite, for the progress bar.
 * @param options.titles One a case.
 * @param options.measure Measures a case once.
 * @param options.afterRound Called at the end of each counted round.
 * @returns The counted measurements of each case.
 */
export async function measureInRounds<T>(options: {
  readonly label: string;
  readonly rounds: number;
  readonly titles: readonly string[];
  readonly measure: (index: number, round: number) => Promise<T>;
  readonly afterRound: () => Promise<void>;
}): Promise<T[][]> {
  const { label, titles, measure, afterRound } = options;
  const rounds = options.rounds + 1;
  const counted = titles.map((): T[] => []);
  using progress = stderrProgress({ label, total: rounds * titles.length, alreadyDone: 0 });
  for (let round = 0; round < rounds; round++) {
    for (const [i, title] of titles.entries()) {
      progress.update(round * titles.length + i, title);
      const measured = await measure(i, round);
      if (round > 0) counted[i].push(measured);
    }
    if (round > 0) await afterRound();
  }
  progress.update(rounds * titles.length);
  return counted;
}
