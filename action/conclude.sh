#!/usr/bin/env bash
# Ends the job: well only when the gate decided and the policy takes it. What is
# missing is a failure.
set -euo pipefail
# shellcheck source=action/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if [[ ${STATUS:-} == evaluated && ( ${CONCLUSION:-} == success || ${CONCLUSION:-} == neutral ) ]]; then
  say "concluded with $CONCLUSION"
  exit 0
fi
case ${STATUS:-} in
evaluated) complain error "The gate does not let this pass: the conclusion is ${CONCLUSION:-missing}." ;;
failed) complain error 'The gate could not decide, so this job does not pass.' ;;
*) complain error 'The gate did not run, so this job does not pass.' ;;
esac
exit 1
