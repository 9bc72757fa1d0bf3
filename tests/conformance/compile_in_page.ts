/** What a page says of WGSL: every message of its compiler. */
import type { Browser } from "../e2e/devtools.ts";
import { openPage } from "../e2e/browser.ts";
import type { KernelForm } from "./kernel_forms.ts";

/** Runs in the page. @returns Every message, by title of the form; compiling a module takes it milliseconds. */
async function compileAll(
  forms: readonly KernelForm[],
): Promise<{ readonly adapter: string; readonly complaints: string[] }> {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) throw new Error("the page has no WebGPU adapter");
  const device = await adapter.requestDevice();
  const complaints: string[] = [];
  for (const { title, code } of forms) {
    device.pushErrorScope("validation");
    const module = device.createShaderModule({ code });
    const info = await module.getCompilationInfo();
    for (const { lineNum, type, message } of info.messages) {
      complaints.push(`${title}: line ${lineNum}, ${type}: ${message}`);
    }
    const error = await device.popErrorScope();
    if (error !== null) complaints.push(`${title}: ${error.message}`);
  }
  const { vendor, architecture } = adapter.info;
  return { adapter: `${vendor} ${architecture}`, complaints };
}

/**
 * Compiles kernels in a page of a browser.
 */
export async function compileInPage(
  browser: Browser,
  { forms, url }: {
    readonly forms: readonly KernelForm[];
    /** A page of this machine: only such are given WebGPU. */
    readonly url: string;
  },
): Promise<{ readonly adapter: string; readonly complaints: string[] }> {
  const { page } = await openPage(browser, { url, own: url });
  try {
    return await page.evaluate(compileAll, forms);
  } finally {
    await page.close();
  }
}
