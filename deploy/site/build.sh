#!/usr/bin/env bash
# Builds the site from the pages into .build/site, and looks at what came out.
set -euo pipefail
cd "$(dirname "$0")/../.."
. deploy/step.sh

tools=.build/site-tools
wanted=$(sha256sum deploy/site/requirements.txt | cut -d' ' -f1)
if [ "$(cat $tools/requirements.sha256 2>/dev/null || true)" != "$wanted" ]; then
    rm -rf $tools
    step "making $tools" /usr/bin/python3 -m venv $tools
    step "installing MkDocs into $tools" $tools/bin/pip install --disable-pip-version-check -r deploy/site/requirements.txt
    echo "$wanted" > $tools/requirements.sha256
fi

# Material announces the end of MkDocs in a notice, which is no warning about a page.
export NO_MKDOCS_2_WARNING=1
step "staging the pages" $tools/bin/python deploy/site/stage.py .build/site-pages
step "building the site" $tools/bin/mkdocs build --quiet --strict --clean --config-file .build/site-pages.yml
step "testing the site" $tools/bin/python -m pytest --quiet -p no:cacheprovider Tests/Site
echo "The site is in .build/site; 'python3 -m http.server --directory .build/site' shows it."
