/** Adam's constants (Kingma and Ba 2015, arXiv:1412.6980): the defaults of the paper and of PyTorch. */

/** Decay of the first moment. */
export const ADAM_BETA1 = 0.9;

/** Decay of the second moment. */
export const ADAM_BETA2 = 0.999;

/** Added to the square root of the second moment. */
export const ADAM_EPS = 1e-8;
