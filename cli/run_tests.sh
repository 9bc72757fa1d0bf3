# The command `test`, read by the launcher (cli/agentrl), whose variables and functions it uses: runs the test suite and repeats
# its closing line as `N passed, N failed`, which is easy to read for programs.
# shellcheck shell=sh disable=SC2154

# The tests of the report look at it in a browser. Without one they fail, and say what to install.
if [ "$system" = Linux ] && ! any_exists /usr/bin/chromium /usr/bin/chromium-browser /usr/bin/google-chrome; then
  provide_packages "a browser for the tests of the report" "Google Chrome" chromium
fi

# A variable of its own: the launchers that tests start must find out for themselves.
find_readback
export AGENTRL_TEST_READBACK="$AGENTRL_READBACK"
unset AGENTRL_READBACK

# Some tests wait for programs, so one file more than there are processors runs at a time. Tests start programs and look at
# their processes: who may do that may do everything, so that a shorter list of permissions would protect nobody.
export DENO_JOBS="${DENO_JOBS:-$(($(getconf _NPROCESSORS_ONLN) + 1))}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
{
  status=0
  "$deno" test --doc --parallel --frozen --config "$repository/deno.json" \
    --allow-all "$@" || status=$?
  echo "$status" >"$scratch/status"
} | tee "$scratch/output"
escape=$(printf '\033')
counts=$(sed "s/$escape\[[0-9;]*m//g" "$scratch/output" |
  sed -nE 's/^(ok|FAILED) \| ([0-9]+) passed.* \| ([0-9]+) failed.*/\2 passed, \3 failed/p' | tail -n 1)
# Without a closing line nothing ran: a type error, or no test where the arguments look for some.
printf '%s\n' "${counts:-0 passed, 1 failed}"
exit "$(cat "$scratch/status")"
