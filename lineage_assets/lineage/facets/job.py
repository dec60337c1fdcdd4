"""The facets of a job; on every event, since Marquez takes description and location from the last one."""

from __future__ import annotations

from openlineage.client import facet_v2 as standard
from openlineage.client.facet_v2 import JobFacet

from lineage_assets.graph import LineageJob
from lineage_assets.ledger.scene import SourceCode
from lineage_assets.lineage.facets import PRODUCER


def job_facets(job: LineageJob, *, integration: str = "SPARK", job_type: str = "JOB") -> dict[str, JobFacet]:
    """What a job is, for whom to ask, and how it is labelled."""
    facets: dict[str, JobFacet] = {
        "jobType": standard.job_type_job.JobTypeJobFacet("BATCH", integration, job_type, producer=PRODUCER)
    }
    if job.description:
        facets["documentation"] = standard.documentation_job.DocumentationJobFacet(job.description, producer=PRODUCER)
    if job.owners:
        owners = [standard.ownership_job.Owner(owner) for owner in job.owners]
        facets["ownership"] = standard.ownership_job.OwnershipJobFacet(owners, producer=PRODUCER)
    if job.tags:
        tags = [standard.tags_job.TagsJobFacetFields(key, value, "DAGSTER") for key, value in job.tags]
        facets["tags"] = standard.tags_job.TagsJobFacet(tags, producer=PRODUCER)
    return facets


def source_facets(source: SourceCode) -> dict[str, JobFacet]:
    """The text of the job's function, and where its file is kept."""
    facets: dict[str, JobFacet] = {}
    if source.text:
        facets["sourceCode"] = standard.source_code_job.SourceCodeJobFacet(
            source.language, source.text, producer=PRODUCER
        )
    if source.repository is not None:
        facets["sourceCodeLocation"] = standard.source_code_location_job.SourceCodeLocationJobFacet(
            type="git",
            url=_url(source),
            repoUrl=source.repository,
            path=source.path,
            version=source.commit,
            branch=source.branch,
            producer=PRODUCER,
        )
    return facets


def _url(source: SourceCode) -> str:
    """The file at its commit, where the repository has pages for that; Marquez shows it as the job's location."""
    repository = source.repository if source.repository is not None else ""
    page = repository.removesuffix(".git").rstrip("/")
    if not page.startswith(("http://", "https://")) or source.commit is None:
        return repository
    return "/".join([page, "blob", source.commit, *([source.path] if source.path is not None else [])])
