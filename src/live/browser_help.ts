/** How WebGPU is turned on, browser by browser. */

/** Browsers by what they call themselves, in the order in which they must be asked: most claim to be others as well. */
const HELP: readonly (readonly [sign: RegExp, help: string])[] = [
  [
    /Firefox\//,
    "In Firefox WebGPU is on in current versions for Windows and for Macs with Apple silicon; elsewhere open about:config, set dom.webgpu.enabled to true, and load this page again.",
  ],
  [
    /(?:Chrome|Chromium|Edg)\//,
    "In Chrome and Edge WebGPU is on where the graphics driver is known to be good; elsewhere, for example on Linux, open chrome://flags, enable “Unsafe WebGPU Support” and “Vulkan”, restart the browser, and look at chrome://gpu.",
  ],
  [
    /Version\/.*Safari\//,
    "In Safari WebGPU is on from version 26; before it, Safari's settings have it under Feature Flags.",
  ],
];

/** How WebGPU is turned on in the browser that calls itself so. */
export function webGpuHelp(userAgent: string): string {
  const [, help] = HELP.find(([sign]) => sign.test(userAgent)) ?? [];
  return help ??
    "Current versions of Chrome, Edge, Firefox and Safari have WebGPU; open this file with one of them.";
}
